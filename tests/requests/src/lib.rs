//! Requests to servers on this machine, over real sockets: what every driver
//! does with them. A driver holds itself to it in one line:
//!
//! ```ignore
//! agentx_requests::tests!(agentx_tokio::request);
//! ```

pub mod plain;
mod support;
pub mod tls;

use agentx_pump::model::ModelRun;
use agentx_pump::pump::ModelNews;
use agentx_pump::tls::TrustStore;
use std::io;
use std::sync::Arc;

/// How a driver makes one request: every piece of news goes to the last argument.
pub type Request = fn(ModelRun, Arc<TrustStore>, &mut dyn FnMut(ModelNews)) -> io::Result<()>;

/// All tests, for the driver with this `request`.
#[macro_export]
macro_rules! tests {
    ($request:path) => {
        const REQUEST: $crate::Request = |run, trust, each| $request(run, trust, each);

        #[test]
        fn an_answer_is_told() {
            $crate::plain::an_answer_is_told(REQUEST);
        }

        #[test]
        fn an_answer_may_come_byte_by_byte() {
            $crate::plain::an_answer_may_come_byte_by_byte(REQUEST);
        }

        // covers: DEC-36
        #[test]
        fn a_large_request_and_more_deltas_than_can_wait_come_through() {
            $crate::plain::a_large_request_and_more_deltas_than_can_wait_come_through(REQUEST);
        }

        // covers: DEC-28
        #[test]
        fn one_event_of_megabytes_comes_whole_and_in_pieces() {
            $crate::plain::one_event_of_megabytes_comes_whole_and_in_pieces(REQUEST);
        }

        #[test]
        fn a_refusal_during_the_upload_is_read() {
            $crate::plain::a_refusal_during_the_upload_is_read(REQUEST);
        }

        // covers: DEC-41
        #[test]
        fn a_server_that_goes_away_in_its_answer_has_failed() {
            $crate::plain::a_server_that_goes_away_in_its_answer_has_failed(REQUEST);
        }

        #[test]
        fn a_busy_server_is_asked_again() {
            $crate::plain::a_busy_server_is_asked_again(REQUEST);
        }

        #[test]
        fn a_port_where_nobody_listens_is_told() {
            $crate::plain::a_port_where_nobody_listens_is_told(REQUEST);
        }

        #[test]
        fn a_name_that_nobody_has_is_told() {
            $crate::plain::a_name_that_nobody_has_is_told(REQUEST);
        }

        #[test]
        fn an_answer_over_tls_is_told() {
            $crate::tls::an_answer_is_told(REQUEST);
        }

        #[test]
        fn a_server_that_nobody_we_trust_vouches_for_learns_nothing() {
            $crate::tls::a_server_that_nobody_we_trust_vouches_for_learns_nothing(REQUEST);
        }
    };
}
