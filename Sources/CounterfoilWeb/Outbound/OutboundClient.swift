import AsyncHTTPClient
import CounterfoilProtocol
import CounterfoilServer
import NIOCore
import NIOHTTP1

/// Sends requests to hosts that developers have named, protected against server-side request forgery (SSRF).
///
/// Only https to a host name is allowed, without redirects, cookies or proxies, within a time limit. Every
/// address of the name must be public or in an allowed network. The connection goes to a checked address, so a
/// change of the DNS entry between check and connection has no effect.
struct OutboundHosts: Sendable {
    private let rules: OutboundRules
    private let loopbackPort: Int?
    private let timeLimit: TimeAmount
    private let lookUps: LookUps

    /// The reason for which a request failed.
    typealias Failure = AssociationFetch.Failure

    /// Creates a sender.
    ///
    /// If a loopback port is given, requests go there over http.
    init(
        label: String, rules: OutboundRules, insecureLoopbackPort: Int?, timeLimit: TimeAmount,
        lookUp: @escaping @Sendable (String) -> [[UInt8]]
    ) {
        self.rules = rules
        loopbackPort = insecureLoopbackPort
        self.timeLimit = timeLimit
        lookUps = LookUps(label: label, lookUp: lookUp)
    }

    /// The result of a request.
    enum Outcome<Answer: Sendable>: Sendable {
        case answered(Answer)
        case failed(Failure)
    }

    /// Sends a request to the host of an https URL.
    ///
    /// It tries up to three addresses until one is reachable.
    ///
    /// - Parameters:
    ///   - url: The URL that names the host.
    ///   - party: The developer or client that named the host. The lookups of a party are limited together.
    ///   - prepare: Creates the request for a URL.
    ///   - read: Reads the response.
    func ask<Answer: Sendable>(
        _ url: AbsoluteURI,
        for party: String,
        prepare: @escaping @Sendable (String) -> HTTPClientRequest,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Outcome<Answer> {
        guard url.scheme == "https", url.userInformation == nil, url.fragment == nil, let host = url.host,
            HostName.isUsable(host)
        else { return .failed(.unsuitableURL) }
        let deadline = NIODeadline.now() + timeLimit
        let judged: [String]
        switch await lookUps.addresses(of: host, for: party, within: timeLimit) {
        case .timedOut: return .failed(.timedOut)
        case .busy: return .failed(.busy)
        case .found(let found):
            switch judge(found) {
            case .reachable(let addresses): judged = addresses.map(\.description)
            case .unknownHost: return .failed(.unknownHost)
            case .notAllowed: return .failed(.notPublic)
            }
        }

        let port = url.port.flatMap { $0 == 443 ? nil : ":\($0)" } ?? ""
        let origin = loopbackPort.map { "http://\(host):\($0)" } ?? "https://\(host)\(port)"
        let target = origin + url.path + (url.query.map { "?\($0)" } ?? "")
        var outcome = Outcome<Answer>.failed(.unreachable)
        for address in judged.prefix(3) {
            guard case .failed(.unreachable) = outcome, NIODeadline.now() < deadline else { break }
            outcome = await ask(prepare(target), at: address, of: host, until: deadline, read: read)
        }
        return outcome
    }

    private func judge(_ addresses: [[UInt8]]) -> OutboundVerdict {
        let isOwnPort = loopbackPort != nil && addresses == [[127, 0, 0, 1]]
        return isOwnPort ? OutboundNetworks.loopbackOfTests.judge(addresses) : rules.networks.judge(addresses)
    }

    private func ask<Answer: Sendable>(
        _ request: HTTPClientRequest, at address: String, of host: String, until deadline: NIODeadline,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Outcome<Answer> {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [host: address]
        configuration.httpVersion = .http1Only
        configuration.tlsConfiguration = rules.authorities.tls
        configuration.timeout.connect = .seconds(2)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each request has its own client: the address is part of the configuration, and connections are not reused.
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let outcome = await Self.ask(request, with: client, until: deadline, read: read)
        try? await client.shutdown()
        return outcome
    }

    private static func ask<Answer: Sendable>(
        _ request: HTTPClientRequest, with client: HTTPClient, until deadline: NIODeadline,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Outcome<Answer> {
        do {
            return try await withThrowingTaskGroup(of: Outcome<Answer>.self) { group in
                group.addTask {
                    .answered(try await read(try await client.execute(request, deadline: .distantFuture)))
                }
                group.addTask {
                    let left = deadline - .now()
                    try await Task.sleep(for: .nanoseconds(max(0, left.nanoseconds)))
                    return .failed(.timedOut)
                }
                defer { group.cancelAll() }
                return try await group.next() ?? .failed(.timedOut)
            }
        } catch is NIOTooManyBytesError {
            return .failed(.tooLarge)
        } catch  where String(reflecting: type(of: error)).hasPrefix("NIOSSL.") {
            return .failed(.untrusted)
        } catch {
            return .failed(.unreachable)
        }
    }
}
