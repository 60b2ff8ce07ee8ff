import CounterfoilClient
import CounterfoilProtocol
import Foundation
import Testing

/// Tests of the end of a wait at the loopback receiver, for the browser and for the app, over real sockets.
@Suite(.timeLimit(.minutes(2)))
struct LoopbackEndingTests {
    private static func port(of receiver: LoopbackReceiver) throws -> Int {
        try #require(receiver.redirectURI.uri.port)
    }

    private static func request(_ receiver: LoopbackReceiver, _ query: String) throws -> String {
        "GET /callback?\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(try port(of: receiver))\r\n\r\n"
    }

    /// Opens connections that have sent nothing, half of a request, or slightly more than half.
    ///
    /// The receiver reads each of them in turn.
    private static func begin(at receiver: LoopbackReceiver) throws -> [RawConnection.Shared] {
        let port = try port(of: receiver)
        let connections = try [
            "", "GET /callback?code=", "GET /callback?code=a HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n",
        ]
        .map { begun in
            let connection = try RawConnection.Shared(port: port)
            connection.send(begun)
            return connection
        }
        // This request came after them. Its response shows that they were accepted.
        _ = try RawConnection.exchange("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port)
        return connections
    }

    private static func expectShutdownPage(_ connections: [RawConnection.Shared]) async {
        for connection in connections {
            let page = await connection.rest()
            #expect(page.hasPrefix("HTTP/1.1 503 "))
            #expect(page.contains("This sign-in has ended"))
        }
    }

    // A browser that is about to deliver the response still finds an open port.
    @Test func `after cancelling, a browser that is about to connect gets a page that says so`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let connections = try Self.begin(at: receiver)
        let wait = Task { try await receiver.callback(within: .seconds(60)) }
        wait.cancel()
        await Self.expectShutdownPage(connections)
        await #expect(throws: SignInError.cancelled) { try await wait.value }
        #expect(!RawConnection.isOpen(port: try Self.port(of: receiver)))
    }

    @Test func `after a timeout, a browser that is about to connect gets a page that says so`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let connections = try Self.begin(at: receiver)
        let wait = Task { try await receiver.callback(within: .milliseconds(50)) }
        await Self.expectShutdownPage(connections)
        await #expect(throws: SignInError.timedOut) { try await wait.value }
        #expect(!RawConnection.isOpen(port: try Self.port(of: receiver)))
    }

    @Test func `an idle connection does not keep the port open`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let silent = try RawConnection.Shared(port: try Self.port(of: receiver))
        await receiver.close()
        await receiver.close()
        #expect(!RawConnection.isOpen(port: try Self.port(of: receiver)))
        _ = await silent.rest()
    }

    @Test func `no duration is too long or too short`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
        receiver.expect(attempt.expectation)
        let wait = Task { try await receiver.callback(within: .seconds(Int64.max)) }
        let page = try RawConnection.exchange(
            Self.request(receiver, "code=a&state=\(attempt.state())"), port: Self.port(of: receiver))
        #expect(page.hasPrefix("HTTP/1.1 200 "))
        _ = try attempt.complete(with: try await wait.value)
        await receiver.close()
        let other = try await LoopbackReceiver.listen()
        await #expect(throws: SignInError.timedOut) { try await other.callback(within: .seconds(-1)) }
    }

    // Two windows of the user, and a response from an old sign-in.
    @Test func `two concurrent sign-ins and an old one do not take each other's responses`() async throws {
        let first = try await LoopbackReceiver.listen()
        let second = try await LoopbackReceiver.listen()
        let old = try AuthorizationAttempt.unasked(redirectURI: first.redirectURI)
        let one = try AuthorizationAttempt.unasked(redirectURI: first.redirectURI)
        let other = try AuthorizationAttempt.unasked(redirectURI: second.redirectURI)
        first.expect(one.expectation)
        second.expect(other.expectation)
        for (receiver, state) in [(first, try other.state()), (second, try one.state()), (first, try old.state())] {
            let page = try RawConnection.exchange(
                Self.request(receiver, "code=a&state=\(state)"), port: Self.port(of: receiver))
            #expect(page.hasPrefix("HTTP/1.1 400 "))
            #expect(page.contains("This response was not expected"))
        }
        let error = try RawConnection.exchange(
            Self.request(first, "error=access_denied&state=\(old.state())"), port: Self.port(of: first))
        #expect(error.hasPrefix("HTTP/1.1 400 "), "an old refusal ends nothing either")
        for (receiver, state) in [(second, try other.state()), (first, try one.state())] {
            let page = try RawConnection.exchange(
                Self.request(receiver, "code=a&state=\(state)"), port: Self.port(of: receiver))
            #expect(page.hasPrefix("HTTP/1.1 200 "))
        }
        // The same page in another window.
        let again = try RawConnection.exchange(
            Self.request(first, "code=a&state=\(one.state())"), port: Self.port(of: first))
        #expect(again.hasPrefix("HTTP/1.1 410 "))
        #expect(again.contains("This sign-in has already ended"))
        _ = try one.complete(with: try await first.callback(within: .seconds(60)))
        _ = try other.complete(with: try await second.callback(within: .seconds(60)))
        await first.close()
        await second.close()
    }

    // RFC 9112 §3.2.2
    @Test func `a request target in absolute form is accepted`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
        receiver.expect(attempt.expectation)
        let host = "127.0.0.1:\(try Self.port(of: receiver))"
        for (origin, status) in [("http://evil.example.com", 404), ("http://\(host)", 200)] {
            let page = try RawConnection.exchange(
                "GET \(origin)/callback?code=a&state=\(attempt.state()) HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                port: Self.port(of: receiver))
            #expect(page.hasPrefix("HTTP/1.1 \(status) "))
        }
        _ = try await receiver.callback(within: .seconds(60))
        await receiver.close()
    }

    // No other device can reach the port, so no firewall needs a rule for it.
    @Test func `the receiver does not listen on other addresses of the device`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try Self.port(of: receiver)
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        let listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { table in
            ((try? String(contentsOfFile: table, encoding: .utf8)) ?? "").split(separator: "\n").compactMap { line in
                let fields = line.split(separator: " ")
                return fields.count > 3 && fields[1].hasSuffix(suffix) && fields[3] == "0A" ? String(fields[1]) : nil
            }
        }
        #expect(
            Set(listening).isSubset(of: ["0100007F\(suffix)", "00000000000000000000000001000000\(suffix)"]))
        #expect(!listening.isEmpty)
        await receiver.close()
    }

    @Test func `no other program can listen on the port`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try Self.port(of: receiver)
        for isIPv6 in [false, true] {
            #expect(!RawConnection.canBind(port: port, isIPv6: isIPv6))
        }
        await receiver.close()
    }

    @Test func `an unavailable port is reported, and the next one is tried`() async throws {
        let uri = try LoopbackRedirectURI("http://localhost/signin-callback")
        for (port, reason) in [(70_000, "70000 is not a port"), (-1, "-1 is not a port")] {
            await #expect(throws: SignInError.cannotListen(reason)) {
                try await LoopbackReceiver.listen(at: uri.tryingPorts([port]))
            }
        }
        let other = try await LoopbackReceiver.listen()
        let free = try Self.port(of: other)
        await other.close()
        let receiver = try await LoopbackReceiver.listen(at: uri.tryingPorts([70_000, free]))
        #expect(receiver.redirectURI.rawValue == "http://localhost:\(free)/signin-callback")
        await receiver.close()
    }
}
