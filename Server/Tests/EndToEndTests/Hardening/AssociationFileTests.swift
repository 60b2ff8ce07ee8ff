@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Dispatch
import NIOCore
import Testing

/// Fetching association files from hosts that a developer has named.
struct AssociationFileTests {
    private static let url = "https://app.example.com/.well-known/assetlinks.json"

    /// A local host that gives every request the same response.
    private final class Host: Sendable {
        private let heads = Mutex<[String]>([])
        var requests: [String] { heads.withLock { $0 } }

        /// Runs the host until `body` returns; `stays` keeps connections open after the response.
        func run<Result: Sendable>(
            answering answer: String, stays: Bool = false, _ body: @Sendable (Int) async throws -> Result
        ) async throws -> Result {
            try await LocalListener.run({ [Connection(self, answer, stays: stays)] }, body)
        }

        private final class Connection: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer

            private let host: Host
            private let answer: ByteBuffer
            private let stays: Bool
            private var head = ""

            init(_ host: Host, _ answer: String, stays: Bool) {
                self.host = host
                self.answer = ByteBuffer(string: answer)
                self.stays = stays
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                head += String(buffer: unwrapInboundIn(data))
                guard head.hasSuffix("\r\n\r\n") else { return }
                host.heads.withLock { $0.append(head) }
                head = ""
                let channel = context.channel
                let sent = channel.writeAndFlush(answer)
                if !stays { sent.whenComplete { _ in channel.close(promise: nil) } }
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        }
    }

    private static func answer(_ body: String, status: String = "200 OK", fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func fetcher(port: Int, timeLimit: TimeAmount = .seconds(5)) -> AssociationFileFetcher {
        AssociationFileFetcher(
            OutboundClient(insecureLoopbackPort: port, timeLimit: timeLimit) { _ in [[127, 0, 0, 1]] })
    }

    // RFC 8252 §7.2: the fetcher connects to the checked IP address and sends the host name.
    @Test func `a file is fetched from the checked IP address, with the host name of the URL`() async throws {
        let host = Host()
        let fetched = try await host.run(answering: Self.answer("[]", fields: "Set-Cookie: a=b\r\n")) { port in
            _ = await Self.fetcher(port: port).fetch(try AbsoluteURI(parsing: Self.url), for: nil)
            return await Self.fetcher(port: port).fetch(try AbsoluteURI(parsing: Self.url), for: nil)
        }
        #expect(fetched == .answered(status: 200, contentType: "application/json", body: Array("[]".utf8)))
        #expect(host.requests.count == 2)
        for request in host.requests {
            let lines = request.lowercased()
            #expect(lines.hasPrefix("get /.well-known/assetlinks.json http/1.1\r\n"))
            #expect(lines.contains("\r\nhost: app.example.com"))
            #expect(!lines.contains("cookie:"))
            #expect(!lines.contains("authorization:"))
        }
    }

    @Test(arguments: ["http://169.254.169.254/latest/meta-data", "/elsewhere", "https://app.example.com/other"])
    func `a redirect is not followed`(target: String) async throws {
        let host = Host()
        let answer = Self.answer("", status: "302 Found", fields: "Location: \(target)\r\n")
        let fetched = try await host.run(answering: answer) { port in
            await Self.fetcher(port: port).fetch(try AbsoluteURI(parsing: Self.url), for: nil)
        }
        #expect(fetched == .answered(status: 302, contentType: "application/json", body: []))
        #expect(host.requests.count == 1)
    }

    @Test func `an endless body is not read to its end`() async throws {
        let announced = Self.answer(String(repeating: " ", count: AssociationCheck.byteLimit + 1))
        let unannounced =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: "1000\r\n\(String(repeating: "x", count: 0x1000))\r\n", count: 64)
        for answer in [announced, unannounced] {
            let fetched = try await Host().run(answering: answer, stays: true) { port in
                await Self.fetcher(port: port).fetch(try AbsoluteURI(parsing: Self.url), for: nil)
            }
            #expect(fetched == .failed(.tooLarge))
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[]"])
    func `the request to a host that never finishes is cancelled`(answer: String) async throws {
        let fetched = try await Host().run(answering: answer, stays: true) { port in
            await Self.fetcher(port: port, timeLimit: .milliseconds(300)).fetch(
                try AbsoluteURI(parsing: Self.url), for: nil)
        }
        #expect(fetched == .failed(.timedOut))
    }

    @Test func `a host without a valid response is unreachable`() async throws {
        let port = try await Host().run(answering: "SSH-2.0-OpenSSH_9.2\r\n\r\n") { port in
            let fetched = await Self.fetcher(port: port).fetch(try AbsoluteURI(parsing: Self.url), for: nil)
            #expect(fetched == .failed(.unreachable))
            return port
        }
        #expect(
            await Self.fetcher(port: port).fetch(try AbsoluteURI(parsing: Self.url), for: nil) == .failed(.unreachable))
    }

    // One internal IP address is enough to refuse a host, and the fetcher opens no connection.
    @Test(
        arguments: [
            [[127, 0, 0, 1]], [[10, 0, 0, 1]], [[169, 254, 169, 254]], [[1, 1, 1, 1], [192, 168, 1, 1]],
            [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
            [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1]],
        ] as [[[UInt8]]])
    func `a host name that resolves to a private address is refused`(addresses: [[UInt8]]) async throws {
        let fetcher = AssociationFileFetcher(OutboundClient(insecureLoopbackPort: nil) { _ in addresses })
        #expect(await fetcher.fetch(try AbsoluteURI(parsing: Self.url), for: nil) == .failed(.notPublic))
    }

    // The server's fetcher uses the system resolver, which finds at most this device for the second name.
    @Test func `names without an address and names of this device are refused`() async throws {
        let nothing = AssociationFileFetcher(OutboundClient(insecureLoopbackPort: nil) { _ in [] })
        #expect(await nothing.fetch(try AbsoluteURI(parsing: Self.url), for: nil) == .failed(.unknownHost))
        let fetcher = AssociationFileFetcher(OutboundClient())
        let inside = await fetcher.fetch(try AbsoluteURI(parsing: "https://any.localhost/"), for: nil)
        guard case .failed(let failure) = inside else {
            Issue.record("it was fetched")
            return
        }
        #expect([.notPublic, .unknownHost, .timedOut].contains(failure))
    }

    @Test(arguments: [
        "http://app.example.com/", "https://app.example.com:8443/", "https://1.1.1.1/", "https://[2606:4700::1111]/",
        "https://[::1]/", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/", "https://2130706433/",
        "https://a.0x7f/", "https://localhost/", "https://intranet/", "https://app.example.com./",
        "https://.example.com/",
        "https://user@app.example.com/", "https://app.example.com/#f", "https://APP.example.com/", "https://a%2eb.com/",
        "https://-a.example.com/", "https://a_b.example.com/", "file:///etc/passwd", "ftp://app.example.com/",
    ])
    func `a URL that is not https with a full host name is not resolved`(url: String) async throws {
        let asked = Mutex(0)
        let fetcher = AssociationFileFetcher(
            OutboundClient(insecureLoopbackPort: nil) { _ in
                asked.withLock { $0 += 1 }
                return []
            })
        #expect(await fetcher.fetch(try AbsoluteURI(parsing: url), for: nil) == .failed(.unsuitableURL))
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func `hanging lookups are abandoned, and their number is limited`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let asked = Mutex(0)
        let fetcher = AssociationFileFetcher(
            OutboundClient(insecureLoopbackPort: nil, timeLimit: .milliseconds(100)) { _ in
                asked.withLock { $0 += 1 }
                gate.wait()
                return []
            })
        let url = try AbsoluteURI(parsing: Self.url)
        let fetched = await withTaskGroup(of: AssociationFetch.self) { group in
            for _ in 0..<20 { group.addTask { await fetcher.fetch(url, for: nil) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(fetched.allSatisfy { $0 == .failed(.timedOut) }, "\(fetched)")
        #expect(asked.withLock { $0 } == 2)
        for _ in 0..<2 { gate.signal() }
    }
}
