import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

@Suite(.timeLimit(.minutes(1)))
struct SystemBrowserTests {
    private let url = "https://id.example.com/authorize?login_hint=%22%20%26%20calc&a=%25s&b=$(reboot);'x'"

    /// Creates a program that writes its arguments to a file, with a mark after each, and exits with a status.
    private func browser(_ name: String, in directory: TemporaryDirectory, status: Int = 0) throws -> URL {
        let program = directory.file(name)
        try ShellProgram.write(
            "for a in \"$@\"; do printf '%s\\n--\\n' \"$a\" >> '\(directory.file("argv").path)'; done\nexit \(status)",
            to: program)
        return program
    }

    private func arguments(in directory: TemporaryDirectory) throws -> [String] {
        let text = try String(contentsOf: directory.file("argv"), encoding: .utf8)
        return text.components(separatedBy: "\n--\n").dropLast()
    }

    @Test func `the URL is one argument, whatever it contains`() async throws {
        let directory = try TemporaryDirectory()
        let program = try browser("my browser", in: directory)
        let launcher = SystemBrowser(environment: ["BROWSER": "'\(program.path)' --new-window %s --at=%s 100%%"])
        #expect(await launcher.open(try BrowserURL(url)) == .launched)
        #expect(try arguments(in: directory) == ["--new-window", url, "--at=\(url)", "100%"])
    }

    @Test func `without a placeholder the URL is the last argument, and the list is tried in order`() async throws {
        let directory = try TemporaryDirectory()
        _ = try browser("broken", in: directory, status: 3)
        _ = try browser("good", in: directory)
        let launcher = SystemBrowser(
            environment: ["PATH": "\(directory.url.path):/usr/bin:/bin", "BROWSER": "not-installed:broken --x:good"])
        #expect(await launcher.open(try BrowserURL(url)) == .launched)
        #expect(try arguments(in: directory) == ["--x", url, url])
    }

    // The default of the desktop, also of a phone that runs Linux.
    @Test func `without BROWSER the opener of the desktop is used`() async throws {
        let directory = try TemporaryDirectory()
        _ = try browser("xdg-open", in: directory)
        let launcher = SystemBrowser(environment: ["PATH": "\(directory.url.path):/usr/bin:/bin"])
        #expect(await launcher.open(try BrowserURL(url)) == .launched)
        #expect(try arguments(in: directory) == [url])
    }

    @Test func `a missing browser is an outcome with a reason`() async throws {
        let launcher = SystemBrowser(environment: ["PATH": "/nonexistent", "BROWSER": "nothing"])
        #expect(
            await launcher.open(try BrowserURL(url))
                == .failed("nothing is not installed; xdg-open is not installed"))
    }

    @Test(arguments: [
        ([:], false), (["SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"], true), (["SSH_TTY": "/dev/pts/1"], true),
        (["SSH_CONNECTION": "x", "DISPLAY": "localhost:10.0"], false),
        (["SSH_CONNECTION": "x", "WAYLAND_DISPLAY": "wayland-0"], false),
        (["SSH_CONNECTION": "x", "BROWSER": "w3m"], false), (["SSH_CONNECTION": ""], false),
    ])
    func `over SSH without a display the user is at another device`(environment: [String: String], isOutOfReach: Bool) {
        #expect(SystemBrowser(environment: environment).isOutOfReach == isOutOfReach)
    }

    @Test func `open returns when the waiting task is cancelled`() async throws {
        let directory = try TemporaryDirectory()
        let program = directory.file("stays")
        let fifo = directory.file("fifo")
        #expect(mkfifo(fifo.path, 0o600) == 0)
        try ShellProgram.write("read line < '\(fifo.path)'", to: program)
        let launcher = SystemBrowser(environment: ["BROWSER": program.path])
        let url = try BrowserURL(url)
        let launch = Task { await launcher.open(url) }
        launch.cancel()
        #expect(await launch.value == .launched)
        // If the browser has already ended, the pipe has no reader, and opening it only for writing would
        // block.
        let writer = open(fifo.path, O_RDWR | O_NONBLOCK)
        _ = write(writer, "\n", 1)
        close(writer)
    }

    @Test(arguments: [
        "--flag", "javascript:alert(1)", "file:///etc/passwd", "http://example.com/", "https://a b/", "$(calc)",
    ])
    func `a URL that is neither https nor loopback is refused`(text: String) {
        #expect(throws: EndpointURL.Refusal.self) { try BrowserURL(text) }
    }
}
