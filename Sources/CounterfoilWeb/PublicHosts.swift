import AsyncHTTPClient
import CounterfoilProtocol
import CounterfoilServer
import Dispatch
import NIOCore
import NIOHTTP1

/// Asks hosts that somebody else has named, without being led to machines beside the server.
///
/// https to a host name, no redirects, no cookies, no proxy, bounded time. Every address of the name has to be public, and the
/// connection goes to an address that has been judged, so that a name which changes its address in between gains nothing.
struct PublicHosts: Sendable {
    private let lookUp: @Sendable (String) -> [[UInt8]]
    private let loopbackPort: Int?
    private let timeLimit: TimeAmount
    // A look-up cannot be stopped; those that hang must not be more than a few.
    private let lookUps: BoundedQueue

    /// Why a host has not answered.
    typealias Failure = AssociationFetch.Failure

    /// With a port it reaches this port of this device, by http.
    init(
        label: String, insecureLoopbackPort: Int?, timeLimit: TimeAmount,
        lookUp: @escaping @Sendable (String) -> [[UInt8]]
    ) {
        loopbackPort = insecureLoopbackPort
        self.timeLimit = timeLimit
        self.lookUp = lookUp
        lookUps = BoundedQueue(label: label, width: 4, capacity: 8)
    }

    /// What came of asking.
    enum Outcome<Answer: Sendable>: Sendable {
        case answered(Answer)
        case failed(Failure)
    }

    /// Asks the host of an https URL, at one address after another until one can be reached.
    ///
    /// - Parameters:
    ///   - prepare: what is sent to the URL that is given to it.
    ///   - read: what is made of the answer.
    func ask<Answer: Sendable>(
        _ url: AbsoluteURI,
        prepare: @escaping @Sendable (String) -> HTTPClientRequest,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Outcome<Answer> {
        guard url.scheme == "https", url.userInformation == nil, url.fragment == nil, let host = url.host,
            HostName.isUsable(host)
        else { return .failed(.unsuitableURL) }
        let deadline = NIODeadline.now() + timeLimit
        let found: [[UInt8]]
        switch await addresses(of: host) {
        case .answered(let addresses): found = addresses
        case .failed(let failure): return .failed(failure)
        }
        guard !found.isEmpty else { return .failed(.unknownHost) }
        // A name with one address inside and one outside is not a mistake that we go along with.
        let judged = found.compactMap(reachable)
        guard judged.count == found.count else { return .failed(.notPublic) }

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

    /// An address as text when it may be connected to.
    private func reachable(_ address: [UInt8]) -> String? {
        if loopbackPort != nil, address == [127, 0, 0, 1] { return "127.0.0.1" }
        return PublicAddress(address)?.description
    }

    private func addresses(of host: String) async -> Outcome<[[UInt8]]> {
        await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            guard lookUps.start({ answer.give(.answered(lookUp(host))) }) else {
                answer.give(.failed(.busy))
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(timeLimit.nanoseconds))) {
                answer.give(.failed(.timedOut))
            }
        }
    }

    private func ask<Answer: Sendable>(
        _ request: HTTPClientRequest, at address: String, of host: String, until deadline: NIODeadline,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Outcome<Answer> {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [host: address]
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(2)
        configuration.connectionPool.retryConnectionEstablishment = false
        // One for each question: the address belongs to the configuration, and connections are not kept.
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
