import ACMETesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import NIOCore
import NIOSSL
import Testing

@testable import CounterfoilWeb

/// Fetching the documents and keys that strangers publish, over a network.
struct ClientFileFetchTests {
    private static let url = "https://app.example.net/client.json?v=1"
    private static let limit = 5120

    private static func request(
        _ url: String = url, tag: String? = nil, isOfNamedHost: Bool = false
    ) throws -> ClientFileRequest {
        ClientFileRequest(
            url: try AbsoluteURI(parsing: url), accepting: "application/json", byteLimit: limit, entityTag: tag,
            isOfNamedHost: isOfNamedHost)
    }

    private static func files(
        port: Int?, timeLimit: TimeAmount = .seconds(5),
        lookUp: @escaping @Sendable (String) -> [[UInt8]] = { _ in [[127, 0, 0, 1]] }
    ) -> OutboundClientFiles {
        let client = OutboundClient(insecureLoopbackPort: port, timeLimit: timeLimit, lookUp: lookUp)
        return OutboundClientFiles(named: client, others: client)
    }

    private static func response(_ body: String, status: String = "200 OK", fields: String = "") -> [[UInt8]] {
        [
            Array(
                ("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(fields)"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
        ]
    }

    /// A response of which each chunk has a size in hexadecimal notation (RFC 9112 §7.1).
    private static func chunked(_ chunks: [[UInt8]], fields: String = "") -> [[UInt8]] {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n"
        return [Array(head.utf8)]
            + chunks.map { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
    }

    @Test func `a file is requested from the checked address without credentials`() async throws {
        let host = ScriptedHost()
        let answer = Self.response(
            "{}", fields: "ETag: \"v1\"\r\nCache-Control: public\r\nCache-Control: max-age=60\r\nSet-Cookie: a=b\r\n")
        let fetched = try await host.run(answering: answer) { port in
            let files = Self.files(port: port)
            _ = await files.fetch(try Self.request(), for: nil)
            return await files.fetch(try Self.request(tag: "\"v0\""), for: nil)
        }
        #expect(
            fetched
                == .answered(
                    .init(
                        status: 200, contentType: "application/json", entityTag: "\"v1\"",
                        cacheControl: "public, max-age=60", body: Array("{}".utf8))))
        let heads = host.requests.map { $0.lowercased() }
        #expect(heads.count == 2)
        for head in heads {
            #expect(head.hasPrefix("get /client.json?v=1 http/1.1\r\n"))
            #expect(head.contains("\r\nhost: app.example.net"))
            #expect(head.contains("\r\naccept: application/json\r\n"))
            for name in ["cookie:", "authorization:", "accept-encoding:", "referer:"] { #expect(!head.contains(name)) }
        }
        #expect(!heads[0].contains("if-none-match"))
        #expect(heads[1].contains("\r\nif-none-match: \"v0\"\r\n"))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is an answer, and is not followed`(status: Int) async throws {
        let host = ScriptedHost()
        for target in ["http://169.254.169.254/latest/meta-data", "/elsewhere", "https://10.0.0.1/"] {
            let answer = Self.response("{}", status: "\(status) Moved", fields: "Location: \(target)\r\n")
            let fetched = try await host.run(answering: answer) { port in
                await Self.files(port: port).fetch(try Self.request(), for: nil)
            }
            guard case .answered(let response) = fetched else {
                Issue.record("\(fetched)")
                return
            }
            #expect(response.status == status)
            #expect(response.body.isEmpty)
        }
        #expect(host.requests.count == 3)
    }

    // RFC 6890. One special address is enough to refuse a host, and no connection is opened.
    @Test(
        arguments: [
            [[127, 0, 0, 1]], [[10, 0, 0, 1]], [[172, 16, 0, 1]], [[192, 168, 1, 1]], [[100, 64, 0, 1]],
            [[169, 254, 169, 254]], [[0, 0, 0, 0]], [[224, 0, 0, 1]], [[255, 255, 255, 255]], [[192, 0, 2, 1]],
            [[1, 1, 1, 1], [192, 168, 1, 1]],
            // ::1, ::, fc00::1, fe80::1, ::ffff:127.0.0.1, ::127.0.0.1, 64:ff9b::10.0.0.1, 2002:a00:1::
            [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]], [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
            [[0xFC, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
            [[0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
            [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1]],
            [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 127, 0, 0, 1]],
            [[0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1]],
            [[0x20, 0x02, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
        ] as [[[UInt8]]])
    func `a host with a special-use address is refused`(addresses: [[UInt8]]) async throws {
        let files = Self.files(port: nil) { _ in addresses }
        #expect(await files.fetch(try Self.request(), for: nil) == .failed(.notPublic))
    }

    // A second answer of DNS after the check has no effect, because the name is resolved once.
    @Test func `a name that changes its address is checked for each request`() async throws {
        let host = ScriptedHost()
        let resolver = Mutex(0)
        let fetched = try await host.run(answering: Self.response("{}")) { port in
            let files = Self.files(port: port) { _ in
                let number = resolver.withLock { count in
                    count += 1
                    return count
                }
                return number == 1 ? [[127, 0, 0, 1]] : [[10, 0, 0, 1]]
            }
            return [await files.fetch(try Self.request(), for: nil), await files.fetch(try Self.request(), for: nil)]
        }
        guard case .answered(let response)? = fetched.first else {
            Issue.record("\(fetched)")
            return
        }
        #expect(response.status == 200)
        #expect(fetched.last == .failed(.notPublic))
        #expect(resolver.withLock { $0 } == 2)
        #expect(host.requests.count == 1)
    }

    // The networks that the operator allows are not for strangers.
    @Test func `a private network is open only to the hosts that the owner has named`() async throws {
        let fetched = try await ScriptedHost().run(answering: Self.response("{}")) { port in
            let inside: @Sendable (String) -> [[UInt8]] = { _ in [[127, 0, 0, 1]] }
            let files = OutboundClientFiles(
                named: OutboundClient(insecureLoopbackPort: port, lookUp: inside),
                others: OutboundClient(insecureLoopbackPort: nil, lookUp: inside))
            return [
                await files.fetch(try Self.request(), for: nil),
                await files.fetch(try Self.request(isOfNamedHost: true), for: nil),
            ]
        }
        #expect(fetched.first == .failed(.notPublic))
        #expect(fetched.last != .failed(.notPublic))
        let files = OutboundClientFiles(OutboundRules(networks: try OutboundNetworks(["127.0.0.0/8", "::1/128"])))
        let stranger = await files.fetch(try Self.request("https://any.localhost/client.json"), for: nil)
        #expect(stranger == .failed(.notPublic) || stranger == .failed(.unknownHost))
    }

    @Test(arguments: [
        "http://app.example.net/c", "https://127.0.0.1/c", "https://[::1]/c", "https://2130706433/c",
        "https://0x7f.1/c", "https://localhost/c", "https://App.example.net/c", "https://app.example.net./c",
        "https://user@app.example.net/c", "https://app.example.net/c#f", "https://app%2eexample.net/c",
    ])
    func `a URL without a plain host name is refused before a lookup`(url: String) async throws {
        let files = Self.files(port: nil) { _ in
            Issue.record("a name was looked up")
            return []
        }
        #expect(await files.fetch(try Self.request(url), for: nil) == .failed(.unsuitableURL))
    }

    // The limit applies to the bytes that are read, whatever the response announces.
    @Test(arguments: [0, 5119, 5120, 5121, 60_000])
    func `the limit counts the bytes that are read`(size: Int) async throws {
        let body = [UInt8](repeating: UInt8(ascii: " "), count: size)
        let pieces = stride(from: 0, to: size, by: 999).map { Array(body[$0..<min($0 + 999, size)]) } + [[]]
        let responses = [Self.response(String(decoding: body, as: UTF8.self)), Self.chunked(pieces)]
        for answer in responses {
            let fetched = try await ScriptedHost().run(answering: answer, stays: true) { port in
                await Self.files(port: port).fetch(try Self.request(), for: nil)
            }
            guard size <= Self.limit else {
                #expect(fetched == .failed(.tooLarge))
                continue
            }
            guard case .answered(let response) = fetched else {
                Issue.record("\(fetched)")
                return
            }
            #expect(response.body == body)
        }
    }

    @Test func `an endless body is not read to its end`() async throws {
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 0x400)
        let fetched = try await ScriptedHost().run(answering: Self.chunked([chunk]), isEndless: true) { port in
            await Self.files(port: port).fetch(try Self.request(), for: nil)
        }
        #expect(fetched == .failed(.tooLarge))
    }

    // The request accepts no content coding, so a compressed body stays as it is and cannot expand.
    @Test func `a compressed body is not expanded`() async throws {
        let compressed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xAB, 0xAE, 5, 0, 0x43, 0xBF, 0xA6, 0xA3, 2, 0, 0, 0,
        ]
        let answer = Self.chunked([compressed, []], fields: "Content-Encoding: gzip\r\n")
        let fetched = try await ScriptedHost().run(answering: answer) { port in
            await Self.files(port: port).fetch(try Self.request(), for: nil)
        }
        guard case .answered(let response) = fetched else {
            Issue.record("\(fetched)")
            return
        }
        #expect(response.body == compressed)
    }

    @Test func `a host that never finishes its response is left`() async throws {
        let silent: [[UInt8]] = []
        let announced = [Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[".utf8)]
        let chunked = Self.chunked([Array("{".utf8)])
        // The limit leaves time for the handshake on a busy machine.
        for answer in [silent, announced, chunked] {
            let fetched = try await ScriptedHost().run(answering: answer, stays: true) { port in
                await Self.files(port: port, timeLimit: .milliseconds(1500)).fetch(try Self.request(), for: nil)
            }
            #expect(fetched == .failed(.timedOut))
        }
    }

    // The library waits for five seconds, which would come after the time limit of the request.
    @Test func `the end of a connection waits only briefly for the other side`() throws {
        let tls = OutboundAuthorities.system.tls
        #expect(tls.shutdownTimeout <= .milliseconds(100))
    }

    @Test func `endless header fields end the request`() async throws {
        let fields = Array(String(repeating: "X-Padding: \(String(repeating: "x", count: 1000))\r\n", count: 16).utf8)
        let fetched = try await ScriptedHost().run(
            answering: [Array("HTTP/1.1 200 OK\r\n".utf8), fields], isEndless: true
        ) { port in await Self.files(port: port).fetch(try Self.request(), for: nil) }
        #expect(fetched == .failed(.unreachable))
    }

    @Test func `a field that occurs twice has no value`() async throws {
        let answer = Self.response(
            "{}", fields: "Content-Type: text/html\r\nETag: \"a\"\r\nETag: \"b\"\r\n")
        let fetched = try await ScriptedHost().run(answering: answer) { port in
            await Self.files(port: port).fetch(try Self.request(), for: nil)
        }
        #expect(fetched == .answered(.init(status: 200, body: Array("{}".utf8))))
    }
}
