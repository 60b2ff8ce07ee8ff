import AsyncHTTPClient
public import CounterfoilProtocol
public import CounterfoilServer
import Dispatch
package import NIOCore
import NIOHTTP1

/// Gets the association files of hosts that developers have named, without being led to machines beside the server.
///
/// https at the usual port of a host name, no redirects, no cookies, no proxy, bounded size and time. Every address of
/// the name has to be public, and the connection goes to an address that has been judged, so that a name which changes
/// its address in between gains nothing.
public struct AssociationFileFetcher: AssociationFetcher {
    private let lookUp: @Sendable (String) -> [[UInt8]]
    private let loopbackPort: Int?
    private let timeLimit: TimeAmount
    // A look-up cannot be stopped; those that hang must not be more than a few.
    private let lookUps = BoundedQueue(label: "counterfoil.lookups", width: 4, capacity: 8)

    /// Makes a fetcher that reaches the public internet and nothing else.
    public init() {
        self.init(insecureLoopbackPort: nil, lookUp: HostName.addresses(of:))
    }

    /// Makes a fetcher with a name service of its own; with a port it reaches this port of this device, by http.
    package init(
        insecureLoopbackPort: Int?,
        timeLimit: TimeAmount = .seconds(5),
        lookUp: @escaping @Sendable (String) -> [[UInt8]]
    ) {
        loopbackPort = insecureLoopbackPort
        self.timeLimit = timeLimit
        self.lookUp = lookUp
    }

    /// Gets the file at an https URL.
    public func fetch(_ url: AbsoluteURI) async -> AssociationFetch {
        guard url.scheme == "https", url.port == nil || url.port == 443, url.userInformation == nil,
            url.fragment == nil, let host = url.host, HostName.isUsable(host)
        else { return .failed(.unsuitableURL) }
        let deadline = NIODeadline.now() + timeLimit
        let found: [[UInt8]]
        switch await addresses(of: host) {
        case .found(let addresses): found = addresses
        case .failed(let failure): return .failed(failure)
        }
        guard !found.isEmpty else { return .failed(.unknownHost) }
        // A name with one address inside and one outside is not a mistake that we go along with.
        let judged = found.compactMap(reachable)
        guard judged.count == found.count else { return .failed(.notPublic) }

        let origin = loopbackPort.map { "http://\(host):\($0)" } ?? "https://\(host)"
        let target = origin + url.path + (url.query.map { "?\($0)" } ?? "")
        var outcome = AssociationFetch.failed(.unreachable)
        for address in judged.prefix(3) where outcome == .failed(.unreachable) && NIODeadline.now() < deadline {
            outcome = await get(target, from: address, of: host, until: deadline)
        }
        return outcome
    }

    /// An address as text when it may be connected to.
    private func reachable(_ address: [UInt8]) -> String? {
        if loopbackPort != nil, address == [127, 0, 0, 1] { return "127.0.0.1" }
        return PublicAddress(address)?.description
    }

    private enum LookUp {
        case found([[UInt8]])
        case failed(AssociationFetch.Failure)
    }

    private func addresses(of host: String) async -> LookUp {
        await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            guard lookUps.start({ answer.give(.found(lookUp(host))) }) else {
                answer.give(.failed(.busy))
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(timeLimit.nanoseconds))) {
                answer.give(.failed(.timedOut))
            }
        }
    }

    private func get(
        _ target: String, from address: String, of host: String, until deadline: NIODeadline
    ) async -> AssociationFetch {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [host: address]
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(2)
        configuration.connectionPool.retryConnectionEstablishment = false
        // One for each file: the address belongs to the configuration, and connections are not kept.
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let outcome = await Self.get(target, with: client, until: deadline)
        try? await client.shutdown()
        return outcome
    }

    private static func get(
        _ target: String, with client: HTTPClient, until deadline: NIODeadline
    ) async -> AssociationFetch {
        do {
            return try await withThrowingTaskGroup { group in
                group.addTask { try await answer(to: target, with: client) }
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

    private static func answer(to target: String, with client: HTTPClient) async throws -> AssociationFetch {
        var request = HTTPClientRequest(url: target)
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "Counterfoil")
        let response = try await client.execute(request, deadline: .distantFuture)
        let types = response.headers["Content-Type"]
        let isGood = response.status.code == 200
        return .answered(
            status: Int(response.status.code), contentType: types.count == 1 ? types[0] : nil,
            body: isGood
                ? Array(try await response.body.collect(upTo: AssociationCheck.byteLimit).readableBytesView) : [])
    }
}
