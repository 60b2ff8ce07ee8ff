import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of a sign-in at a terminal with the browser on another device.
@Suite(.timeLimit(.minutes(2)))
struct PasteReceiverTests {
    /// A terminal with typed lines and the messages about them.
    private final class Terminal: Sendable {
        let told = Mutex<[PasteReceiver.Refusal]>([])
        private let lines: AsyncStream<String>
        private let line: AsyncStream<String>.Continuation

        init() { (lines, line) = AsyncStream.makeStream() }

        func paste(_ texts: [String]) { for text in texts { line.yield(text) } }

        func hangUp() { line.finish() }

        func receiver(at uri: LoopbackRedirectURI = .standard) throws -> PasteReceiver {
            let lines = lines
            return try PasteReceiver(
                at: uri,
                lines: {
                    for await line in lines { return line }
                    return nil
                }, onRefusal: { refusal in self.told.withLock { $0.append(refusal) } })
        }
    }

    @Test func `only the response to this sign-in is accepted, and any other text is refused with a reason`()
        async throws
    {
        let terminal = Terminal()
        let receiver = try terminal.receiver()
        let base = receiver.redirectURI.rawValue
        let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
        let state = try attempt.state()
        receiver.expect(attempt.expectation)
        terminal.paste([
            "", "c0de", "https://id.example.com/oauth2/authorize?state=\(state)", "\(base)?code=a",
            "\(base)?code=a&state=guess", "\(base)?code=%zz&state=\(state)",
            "\(base)?code=\(String(repeating: "a", count: 40_000))",
            "  \u{1B}[200~\"\(base)?code=c0de&state=\(state)\"\u{1B}[201~ ",
        ])
        let callback = try await receiver.callback(within: .seconds(60))
        #expect(try callback.parameters.single("code") == "c0de")
        _ = try attempt.complete(with: callback)
        #expect(
            terminal.told.withLock { $0 } == [
                .notAURL(expected: base), .notAURL(expected: base), .otherURL(expected: base),
                .anotherSignIn, .anotherSignIn, .notAURL(expected: base), .tooLong,
            ])
        for refusal in terminal.told.withLock({ $0 }) { #expect(!"\(refusal)".contains("c0de")) }
        await receiver.close()
    }

    @Test func `an error response is accepted as a response`() async throws {
        let terminal = Terminal()
        let receiver = try terminal.receiver(at: LoopbackRedirectURI("http://localhost:4711/cb"))
        #expect(receiver.redirectURI.rawValue == "http://localhost:4711/cb")
        let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
        receiver.expect(attempt.expectation)
        terminal.paste(["http://localhost:4711/cb?error=access_denied&state=\(try attempt.state())"])
        let refused = attempt.refusal(of: try await receiver.callback(within: .seconds(60)))
        #expect(refused == .refused(OAuthError(.accessDenied)))
    }

    @Test func `the timeout, the end of the input and cancelling end the wait`() async throws {
        let slow = Terminal()
        let late = try slow.receiver()
        await #expect(throws: SignInError.timedOut) { try await late.callback(within: .milliseconds(20)) }

        let gone = Terminal()
        gone.hangUp()
        let nobody = try gone.receiver()
        await #expect(throws: SignInError.cannotListen("the input ended before a URL was pasted")) {
            try await nobody.callback(within: .seconds(60))
        }

        let patient = Terminal()
        let receiver = try patient.receiver()
        let wait = Task { try await receiver.callback(within: .seconds(60)) }
        wait.cancel()
        await #expect(throws: SignInError.cancelled) { try await wait.value }
    }

    @Test func `a sign-in over SSH ends with tokens`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let terminal = Terminal()
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.browser = NoBrowser()
            signIn.timeout = .seconds(60)
            signIn.redirect = .receiver { () async throws(SignInError) -> any RedirectReceiver in
                do { return try terminal.receiver() } catch { throw .cancelled }
            }
            let credentials = try await signIn.run { event in
                guard case .opening(let url) = event else { return }
                // The browser runs on another device. The URL in its address bar is pasted here.
                Task {
                    let answer = try await StandardTransport().send(TransportRequest(EndpointURL(url.rawValue)))
                    terminal.paste([answer.head.headerFields[.location] ?? ""])
                }
            }
            #expect(server.accessTokens == [credentials.accessToken.exposed])
        }
    }

    // A terminal does not echo the pasted text, and long lines are not truncated.
    @Test func `a terminal does not echo the pasted text, and its settings are restored`() async throws {
        let (terminal, keyboard) = try Self.openTerminal()
        defer { for end in [terminal, keyboard] { close(end) } }
        let former = Self.settings(of: terminal)
        let lines = PastedLines(from: terminal)
        while Self.settings(of: terminal) == former { await Task.yield() }
        let long = "http://127.0.0.1/?code=" + String(repeating: "a", count: 9000)
        for text in ["wrong\u{15}\(long)x\u{7F}\r", "second\n", "\u{3}"] {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.prefix(512).withUnsafeBytes { write(keyboard, $0.baseAddress, $0.count) }
                try #require(count > 0)
                rest = rest.dropFirst(count)
            }
        }
        #expect(await lines.next() == long)
        #expect(await lines.next() == "second")
        #expect(await lines.next() == nil)
        while Self.settings(of: terminal) != former { await Task.yield() }
        // The terminal has echoed nothing.
        var shown = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
        #expect(poll(&shown, 1, 0) == 0)
    }

    @Test func `lines from a program are read to the end of its output`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("lines")
        try Data("one\n\ntwo".utf8).write(to: file)
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        let lines = PastedLines(from: descriptor)
        var read: [String] = []
        while let line = await lines.next() { read.append(line) }
        #expect(read == ["one", "", "two"])
        lines.stop()
    }

    private struct NoTerminal: Error {}

    /// Opens a pseudo-terminal: one end for the program and one for its user.
    private static func openTerminal() throws -> (terminal: Int32, keyboard: Int32) {
        let keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (lock, number): (Int32, UInt32) = (0, 0)
        // The requests TIOCSPTLCK and TIOCGPTN, which are not visible in Swift.
        guard keyboard >= 0, ioctl(keyboard, 0x4004_5431, &lock) == 0, ioctl(keyboard, 0x8004_5430, &number) == 0 else {
            throw NoTerminal()
        }
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { throw NoTerminal() }
        return (terminal, keyboard)
    }

    private static func settings(of terminal: Int32) -> tcflag_t {
        var settings = termios()
        tcgetattr(terminal, &settings)
        return settings.c_lflag
    }
}
