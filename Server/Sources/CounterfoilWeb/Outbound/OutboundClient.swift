import AsyncHTTPClient
@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
package import NIOCore
import NIOHTTP1

/// Sends requests to hosts that developers have named, protected against server-side request forgery (SSRF).
///
/// Only https to a host name is allowed, without redirects, cookies or proxies, within limits of time and size. Every
/// address of the name must be public or in an allowed network. The connection goes to a checked address, so a change
/// of the DNS entry between the check and the connection has no effect.
///
/// Each client that is created from rules has a separate queue of DNS lookups.
public struct OutboundClient: Sendable {
    private let rules: OutboundRules
    private let loopbackPort: Int?
    private let timeLimit: TimeAmount
    private let resolver: HostResolver

    /// A response to a GET request.
    package struct Response: Sendable {
        package let status: Int
        /// The value of `Content-Type`; nil unless the response has this field exactly once.
        package let contentType: String?
        /// The value of `ETag`; nil unless the response has this field exactly once.
        package let entityTag: String?
        /// The values of `Cache-Control`, joined by commas; nil if there are none.
        package let cacheControl: String?
        /// The body; empty unless the status is 200.
        package let body: [UInt8]
    }

    /// Creates a client that can reach public addresses, and the private networks that the rules allow.
    public init(_ rules: OutboundRules = .standard) {
        self.init(rules, insecureLoopbackPort: nil, lookUp: HostName.addresses(of:))
    }

    /// Creates the client for webhooks, whose receivers have 15 seconds (Standard Webhooks, "Request timeouts").
    public static func forWebhooks(_ rules: OutboundRules = .standard) -> OutboundClient {
        OutboundClient(
            rules, insecureLoopbackPort: nil, timeLimit: .seconds(15), lookUp: HostName.addresses(of:))
    }

    /// Creates a client with a custom resolver.
    ///
    /// With `insecureLoopbackPort`, for tests, requests go to this port over http, and a host that resolves to
    /// 127.0.0.1 is allowed.
    package init(
        _ rules: OutboundRules = .standard,
        insecureLoopbackPort: Int?,
        timeLimit: TimeAmount = .seconds(5),
        lookUp: @escaping @Sendable (String) -> [[UInt8]]
    ) {
        self.init(
            rules, loopbackPort: insecureLoopbackPort, timeLimit: timeLimit,
            resolver: HostResolver(label: "counterfoil.lookups", lookUp: lookUp))
    }

    private init(_ rules: OutboundRules, loopbackPort: Int?, timeLimit: TimeAmount, resolver: HostResolver) {
        self.rules = rules
        self.loopbackPort = loopbackPort
        self.timeLimit = timeLimit
        self.resolver = resolver
    }

    /// A client that reaches public addresses only, and shares the queue of DNS lookups with this client.
    var withoutPrivateNetworks: OutboundClient {
        OutboundClient(
            OutboundRules(networks: .none, authorities: rules.authorities), loopbackPort: nil, timeLimit: timeLimit,
            resolver: resolver)
    }

    /// Fetches a document of a limited size.
    ///
    /// - Parameters:
    ///   - url: The URL of the document.
    ///   - type: The content type that the request accepts.
    ///   - byteLimit: The maximum size of the body; a larger one throws ``OutboundFailure/tooLarge``.
    ///   - entityTag: The value of `If-None-Match`; nil for none.
    ///   - party: The developer, client or host whose lookups are limited together.
    ///   - span: The span of the request that needs the document; nil if it is not sampled.
    package func get(
        _ url: AbsoluteURI, accepting type: String, upTo byteLimit: Int, unless entityTag: String? = nil,
        for party: String, in span: (any TraceSpan)? = nil
    ) async throws(OutboundFailure) -> Response {
        try await send(to: url, for: party, in: span) { request in
            request.headers.add(name: "Accept", value: type)
            if let entityTag { request.headers.add(name: "If-None-Match", value: entityTag) }
        } read: { response in
            func single(_ name: String) -> String? {
                let values = response.headers[name]
                return values.count == 1 ? values[0] : nil
            }
            let cacheControl = response.headers["Cache-Control"]
            return Response(
                status: Int(response.status.code), contentType: single("Content-Type"), entityTag: single("ETag"),
                cacheControl: cacheControl.isEmpty ? nil : cacheControl.joined(separator: ", "),
                body: response.status == .ok
                    ? Array(try await response.body.collect(upTo: byteLimit).readableBytesView) : [])
        }
    }

    /// Posts a form and returns the status of the response, whose body is not read.
    ///
    /// - Parameters:
    ///   - form: The body of the request.
    ///   - url: The destination.
    ///   - party: The developer or client whose lookups are limited together.
    package func post(
        _ form: FormParameters, to url: AbsoluteURI, for party: String
    ) async throws(OutboundFailure) -> Int {
        let body = form.encoded
        return try await send(to: url, for: party, in: nil) { request in
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: body))
        } read: { response in
            Int(response.status.code)
        }
    }

    /// Posts a body with its fields, and returns the status of the response, whose body is not read, and the seconds in
    /// its `Retry-After`.
    ///
    /// - Parameters:
    ///   - body: The body of the request.
    ///   - fields: The fields of the request, with `Content-Type`.
    ///   - url: The destination.
    ///   - party: The webhook whose lookups are limited together.
    package func post(
        _ body: [UInt8], fields: [(String, String)], to url: AbsoluteURI, for party: String
    ) async throws(OutboundFailure) -> (status: Int, retryAfter: Int?) {
        try await send(to: url, for: party, in: nil) { request in
            request.method = .POST
            for (name, value) in fields { request.headers.add(name: name, value: value) }
            request.body = .bytes(ByteBuffer(bytes: body))
        } read: { response in
            let waits = response.headers["Retry-After"]
            return (Int(response.status.code), waits.count == 1 ? Int(waits[0]) : nil)
        }
    }

    /// Sends a request to the host of an https URL.
    ///
    /// It tries up to three addresses until one is reachable.
    private func send<Answer: Sendable>(
        to url: AbsoluteURI,
        for party: String,
        in parent: (any TraceSpan)?,
        prepare: (inout HTTPClientRequest) -> Void,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws(OutboundFailure) -> Answer {
        guard url.scheme == "https", url.userInformation == nil, url.fragment == nil, let host = url.host,
            HostName.isUsable(host)
        else { throw .unsuitableURL }
        let port = url.port.flatMap { $0 == 443 ? nil : ":\($0)" } ?? ""
        let origin = loopbackPort.map { "http://\(host):\($0)" } ?? "https://\(host)\(port)"
        var request = HTTPClientRequest(url: origin + url.path + (url.query.map { "?\($0)" } ?? ""))
        prepare(&request)
        request.headers.add(name: "User-Agent", value: "Counterfoil")
        guard let span = parent.begin(.outbound(request.method.rawValue, to: host)) else {
            return try await send(request, to: host, for: party, read: read)
        }
        do {
            let (answer, status) = try await send(request, to: host, for: party) { response in
                let status = Int(response.status.code)
                span.note(.status(status))
                return (try await read(response), status)
            }
            if status >= 400 { span.end(failing: "\(status)") } else { span.end() }
            return answer
        } catch {
            span.end(failing: "\(error)")
            throw error
        }
    }

    private func send<Answer: Sendable>(
        _ request: HTTPClientRequest, to host: String, for party: String,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws(OutboundFailure) -> Answer {
        // The end of the connection belongs to the time of the request.
        let deadline = NIODeadline.now() + timeLimit - OutboundAuthorities.closingTime
        let addresses = try await addresses(of: host, for: party)
        for address in addresses.prefix(3) where NIODeadline.now() < deadline {
            do {
                return try await send(request, to: address, of: host, until: deadline, read: read)
            } catch {
                guard error == .unreachable else { throw error }
            }
        }
        throw .unreachable
    }

    /// Resolves a host name, and returns its addresses if the rules allow each of them.
    private func addresses(of host: String, for party: String) async throws(OutboundFailure) -> [String] {
        switch await resolver.addresses(of: host, for: party, within: timeLimit) {
        case .timedOut: throw .timedOut
        case .busy: throw .busy
        case .found(let found):
            switch judge(found) {
            case .reachable(let addresses): return addresses.map(\.description)
            case .unknownHost: throw .unknownHost
            case .notAllowed: throw .notPublic
            }
        }
    }

    private func judge(_ addresses: [[UInt8]]) -> OutboundVerdict {
        let isOwnPort = loopbackPort != nil && addresses == [[127, 0, 0, 1]]
        return isOwnPort ? OutboundNetworks.loopbackOfTests.judge(addresses) : rules.networks.judge(addresses)
    }

    private func send<Answer: Sendable>(
        _ request: HTTPClientRequest, to address: String, of host: String, until deadline: NIODeadline,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws(OutboundFailure) -> Answer {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [host: address]
        configuration.httpVersion = .http1Only
        configuration.tlsConfiguration = rules.authorities.tls
        configuration.timeout.connect = .seconds(2)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each request has a separate `HTTPClient`, because the checked address is part of the configuration. No
        // connection is reused.
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let outcome = await Self.outcome(of: request, with: client, until: deadline, read: read)
        try? await client.shutdown()
        return try outcome.get()
    }

    private static func outcome<Answer: Sendable>(
        of request: HTTPClientRequest, with client: HTTPClient, until deadline: NIODeadline,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Result<Answer, OutboundFailure> {
        do {
            return try await withThrowingTaskGroup(of: Result<Answer, OutboundFailure>.self) { group in
                group.addTask {
                    .success(try await read(try await client.execute(request, deadline: .distantFuture)))
                }
                group.addTask {
                    let left = deadline - .now()
                    try await Task.sleep(for: .nanoseconds(max(0, left.nanoseconds)))
                    return .failure(.timedOut)
                }
                defer { group.cancelAll() }
                return try await group.next() ?? .failure(.timedOut)
            }
        } catch is NIOTooManyBytesError {
            return .failure(.tooLarge)
        } catch  where String(reflecting: type(of: error)).hasPrefix("NIOSSL.") {
            return .failure(.untrusted)
        } catch {
            return .failure(.unreachable)
        }
    }
}
