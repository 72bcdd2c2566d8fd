//! Requests to servers on this machine, over real sockets.

agentx_requests::tests!(agentx_async_std::request);
