//! Over plain TCP.

use crate::Request;
use crate::support::{Server, answer, ask, ask_port, read_request, saying, stream};
use crate::tls::Authority;
use agentx_core::model::ErrorCategory;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::channel;

/// See [`crate::tests`].
pub fn an_answer_is_told(request: Request) {
    let (sender, asked) = channel();
    let server = Server::start([Box::new(move |mut socket: std::net::TcpStream| {
        sender.send(read_request(&mut socket)).unwrap();
        let text = answer(&stream(["good ", "day"]));
        socket.write_all(text.as_bytes()).unwrap();
    }) as _]);
    ask_port(request, server.port, "hello?").finished("good day");
    let asked = asked.recv().unwrap();
    assert!(asked.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
    assert!(asked.contains("authorization: Bearer sk-test-0123456789\r\n"));
    assert!(asked.contains("hello?"));
    server.join();
}

/// See [`crate::tests`].
pub fn an_answer_may_come_byte_by_byte(request: Request) {
    let server = Server::start([Box::new(|mut socket: std::net::TcpStream| {
        read_request(&mut socket);
        socket.set_nodelay(true).unwrap();
        for byte in answer(&stream(["good ", "day"])).into_bytes() {
            socket.write_all(&[byte]).unwrap();
        }
    }) as _]);
    ask_port(request, server.port, "hi").finished("good day");
    server.join();
}

/// See [`crate::tests`].
pub fn a_large_request_and_more_deltas_than_can_wait_come_through(request: Request) {
    let texts: Vec<String> = (0..5_000).map(|n| format!("{n} ")).collect();
    let events = stream(texts.iter().map(String::as_str));
    let prompt = "x".repeat(3_000_000);
    let (sender, asked) = channel();
    let server = Server::start([Box::new(move |mut socket: std::net::TcpStream| {
        sender.send(read_request(&mut socket)).unwrap();
        socket.write_all(answer(&events).as_bytes()).unwrap();
    }) as _]);
    ask_port(request, server.port, &prompt).finished(&texts.concat());
    assert!(asked.recv().unwrap().contains(&prompt));
    server.join();
}

/// See [`crate::tests`].
pub fn one_event_of_megabytes_comes_whole_and_in_pieces(request: Request) {
    let text = "0123456789abcdef".repeat(450_000);
    let server = Server::saying(answer(&stream([text.as_str()])));
    let told = ask_port(request, server.port, "hi");
    told.finished(&text);
    assert!(told.longest <= 256 * 1024, "a step of {}", told.longest);
    server.join();
}

/// See [`crate::tests`].
pub fn a_refusal_during_the_upload_is_read(request: Request) {
    let server = Server::start([Box::new(|mut socket: std::net::TcpStream| {
        let mut some = [0; 1_000];
        socket.read_exact(&mut some).unwrap();
        let text = "HTTP/1.1 413 Large\r\ncontent-length: 2\r\n\r\nno";
        socket.write_all(text.as_bytes()).unwrap();
        // Until the other side is gone, so that no reset overtakes the answer.
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    }) as _]);
    let told = ask_port(request, server.port, &"x".repeat(20_000_000));
    let failure = told.failure();
    assert_eq!(
        (failure.category, failure.status),
        (ErrorCategory::InvalidRequest, Some(413))
    );
    server.join();
}

/// See [`crate::tests`].
pub fn a_server_that_goes_away_in_its_answer_has_failed(request: Request) {
    let whole = answer(&stream(["good ", "day"]));
    let (cut, _) = whole.split_at(whole.find("day").unwrap());
    let server = Server::saying(cut.to_owned());
    let told = ask_port(request, server.port, "hi");
    assert_eq!(told.failure().category, ErrorCategory::ServerError);
    assert_eq!(told.text, "good ", "what came before is told");
    server.join();
}

/// See [`crate::tests`].
pub fn a_busy_server_is_asked_again(request: Request) {
    let busy = "HTTP/1.1 503 Busy\r\nretry-after-ms: 1\r\ncontent-length: 0\r\n\r\n";
    let server = Server::start([
        saying(busy.to_owned()),
        saying(answer(&stream(["good day"]))),
    ]);
    let told = ask_port(request, server.port, "hi");
    told.finished("good day");
    assert_eq!(told.warnings.len(), 1, "{:?}", told.warnings);
    server.join();
}

/// See [`crate::tests`].
pub fn a_port_where_nobody_listens_is_told(request: Request) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let told = ask_port(request, port, "hi");
    let failure = told.failure();
    assert_eq!(
        (failure.category, failure.status),
        (ErrorCategory::Unknown, None)
    );
    assert!(failure.message.contains("refused"), "{}", failure.message);
    assert_eq!(told.warnings.len(), 3, "it was tried four times");
}

/// See [`crate::tests`].
pub fn a_name_that_nobody_has_is_told(request: Request) {
    let folder = tempfile::tempdir().unwrap();
    let ca_file = Authority::new().write_to(folder.path());
    let told = ask(request, "https://nowhere.invalid/v1", Some(&ca_file), "hi");
    let failure = told.failure();
    assert_eq!(failure.category, ErrorCategory::Unknown);
    assert!(failure.message.contains("name"), "{}", failure.message);
}
