import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of the check that a local connection comes from the same user.
@Suite(.timeLimit(.minutes(1)))
struct PeerCheckTests {
    private static let own = ConnectionTable.Endpoint([127, 0, 0, 1], port: 40001)
    private static let peer = ConnectionTable.Endpoint([127, 0, 0, 1], port: 50002)

    /// A line of `/proc/net/tcp` on a machine with little-endian numbers.
    private static func line(
        _ local: String, _ remote: String, state: String = "01", user: Int, inode: Int
    ) -> String {
        "   0: \(local) \(remote) \(state) 00000000:00000000 00:00000000 00000000 \(user)        0 \(inode) 1 0 20 4 30 10 -1\n"
    }

    private static func check(_ lines: String..., user: UInt32 = 1000, unmapped: UInt32? = nil) -> PeerCheck {
        let text = Array(("  sl  local_address rem_address   st\n" + lines.joined()).utf8)
        return PeerCheck(user: user, unmappedUser: unmapped) { ConnectionTable(text: text) }
    }

    private static let there = "0100007F:C352"
    private static let here = "0100007F:9C41"

    @Test(
        arguments: [
            (1000, 1000, nil, PeerCheck.Verdict.accepted), (1001, 1000, nil, .otherUser),
            // Root can read the memory of every process, and a program of root serves the browser of another user.
            (0, 1000, nil, .accepted), (1001, 0, nil, .accepted),
            // In a user namespace, one number stands for all users who have none.
            (65534, 1000, 65534, .accepted), (65534, 1000, nil, .otherUser),
        ] as [(Int, UInt32, UInt32?, PeerCheck.Verdict)])
    func `the user of the other end decides`(
        peer: Int, user: UInt32, unmapped: UInt32?, verdict: PeerCheck.Verdict
    ) {
        let check = Self.check(
            Self.line(Self.here, Self.there, user: 1000, inode: 7),
            Self.line(Self.there, Self.here, user: peer, inode: 8), user: user, unmapped: unmapped)
        #expect(check.verdict(on: Self.peer, connectedTo: Self.own) == verdict)
    }

    @Test func `an IPv4 connection of an IPv6 socket, and IPv6, are found`() {
        let mapped = Self.line(
            "0000000000000000FFFF00000100007F:C352", "0000000000000000FFFF00000100007F:9C41", user: 1001, inode: 8)
        #expect(Self.check(mapped).verdict(on: Self.peer, connectedTo: Self.own) == .otherUser)
        let loopback = Array(repeating: UInt8(0), count: 15) + [1]
        let six = Self.line(
            "00000000000000000000000001000000:C352", "00000000000000000000000001000000:9C41", user: 1001, inode: 8)
        #expect(
            Self.check(six).verdict(
                on: ConnectionTable.Endpoint(loopback, port: 50002),
                connectedTo: ConnectionTable.Endpoint(loopback, port: 40001)) == .otherUser)
    }

    @Test func `a connection whose other end is closed gets no answer`() {
        let gone = Self.check(Self.line(Self.there, Self.here, user: 0, inode: 0))
        #expect(gone.verdict(on: Self.peer, connectedTo: Self.own) == .closed)
        let aborted = Self.check(Self.line(Self.here, Self.there, state: "08", user: 1000, inode: 7))
        #expect(aborted.verdict(on: Self.peer, connectedTo: Self.own) == .closed)
        #expect(Self.check().verdict(on: Self.peer, connectedTo: Self.own) == .closed)
    }

    @Test func `a system that does not tell is believed`() {
        let silent = PeerCheck(user: 1000, unmappedUser: nil) { nil }
        #expect(silent.verdict(on: Self.peer, connectedTo: Self.own) == .accepted)
        // The other end is in another network namespace.
        let far = Self.check(Self.line(Self.here, Self.there, user: 1000, inode: 7))
        #expect(far.verdict(on: Self.peer, connectedTo: Self.own) == .accepted)
        let strange = Self.check(
            "a line\n", "::: ::: 01 0 0 0 x 0 y\n", Self.line(Self.here, Self.there, user: 1, inode: 7))
        #expect(strange.verdict(on: Self.peer, connectedTo: Self.own) == .accepted)
    }

    #if os(Linux)
        @Test(arguments: [
            ("         0          0 4294967295\n", nil), ("         0       1000          1\n", 65534 as UInt32?),
            ("", 65534), ("0 0 65536\n65536 100000 65536\n", 65534),
        ])
        func `a user namespace has users without a number`(map: String, unmapped: UInt32?) {
            #expect(PeerCheck.unmappedUser(uidMap: Array(map.utf8), overflow: 65534) == unmapped)
        }

        // Another user who has read the address from the process list.
        @Test(.enabled(if: geteuid() == 0, "only root can be two users"))
        func `a program of another user receives no redirect and delivers no response`() async throws {
            let check = PeerCheck(user: 12345, unmappedUser: nil, table: PeerCheck.ofThisProcess.table)
            let receiver = try await LoopbackReceiver.listen(peers: check)
            let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
            receiver.expect(attempt.expectation)
            let port = try #require(receiver.redirectURI.uri.port)
            let destination = try BrowserURL("https://id.example.com/authorize?state=s3cret")
            let start = try #require(receiver.startURL(for: destination))
            let path = try EndpointURL(start.rawValue).uri.path
            let callback = "/callback?code=c0de&state=\(try attempt.state())"

            for target in [path, callback] {
                let answer = try await Self.get(target, port: port, as: 12346)
                #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(answer)")
                #expect(answer.contains("another user") && !answer.contains("s3cret"))
            }
            let started = try await Self.get(path, port: port, as: 12345)
            #expect(started.hasPrefix("HTTP/1.1 302 ") && started.contains("Location: \(destination)\r\n"))
            #expect(try await Self.get(callback, port: port, as: 12345).hasPrefix("HTTP/1.1 200 "))
            _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
            await receiver.close()
        }

        /// Sends a request from a process of a user.
        private static func get(_ target: String, port: Int, as user: Int) async throws -> String {
            let program = Process()
            program.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            program.arguments = [
                "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/bin/bash", "-c",
                #"exec 3<>"/dev/tcp/127.0.0.1/$1"; printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$2" "$1" >&3; cat <&3"#,
                "bash", "\(port)", target,
            ]
            let output = Pipe()
            program.standardOutput = output
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            try program.run()
                            let text = output.fileHandleForReading.readDataToEndOfFile()
                            program.waitUntilExit()
                            return String(decoding: text, as: UTF8.self)
                        })
                }
            }
        }
    #endif
}
