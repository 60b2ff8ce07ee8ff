import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The nonces and clock offsets of the servers to which the proofs of one key are sent (RFC 9449 §8.2).
final class ProofServers: Sendable {
    /// The facts about one server, which its proofs must contain.
    struct State: Hashable, Sendable {
        /// The latest nonce of the server; nil if it has sent none.
        var nonce: String?
        /// The seconds by which the server's clock is ahead of this device's.
        var clockOffset: TimeInterval = 0

        /// Returns true if a proof with these facts can succeed where one with the former facts was rejected.
        func differs(from former: State) -> Bool {
            nonce != former.nonce || abs(clockOffset - former.clockOffset) > ServerClock.tolerance
        }
    }

    /// The maximum number of servers (origins) of a key; if there are more, all are forgotten first.
    private static let serverLimit = 16
    /// The maximum number of keys of this process; if there are more, the one unused for longest is forgotten.
    private static let keyLimit = 64
    private static let ofThisProcess = Mutex<[(thumbprint: String, servers: ProofServers)]>([])

    private let states = Mutex<[String: State]>([:])

    /// Returns the servers of a key, the same for each call in this process; the key itself is not kept.
    static func known(to key: ProofKey) -> ProofServers {
        let thumbprint = key.thumbprint
        return ofThisProcess.withLock { known in
            let index = known.firstIndex { $0.thumbprint == thumbprint }
            let entry = index.map { known.remove(at: $0) } ?? (thumbprint: thumbprint, servers: ProofServers())
            if known.count >= keyLimit { known.removeFirst() }
            known.append(entry)
            return entry.servers
        }
    }

    func state(of endpoint: EndpointURL) -> State {
        states.withLock { $0[Self.name(of: endpoint)] } ?? State()
    }

    /// Records what a response shows, and returns the state after it; nil keeps the former value.
    func update(_ endpoint: EndpointURL, nonce: String?, clockOffset: TimeInterval?) -> State {
        let name = Self.name(of: endpoint)
        return states.withLock { states in
            var state = states[name] ?? State()
            if let nonce { state.nonce = nonce }
            if let clockOffset { state.clockOffset = clockOffset }
            if states[name] == nil, states.count >= Self.serverLimit { states.removeAll() }
            states[name] = state
            return state
        }
    }

    private static func name(of endpoint: EndpointURL) -> String { endpoint.origin.lowercased() }
}
