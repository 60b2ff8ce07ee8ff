package import HTTPTypes

/// The answer of `/readyz`: whether this process can serve sign-ins; and of `/readyz/process`, which leaves out the
/// store.
///
/// While the database of all servers is away, none of them is ready. The metadata and the key set need no database, so
/// a load balancer then sends requests to each server whose process is ready.
package struct ReadinessReport: Sendable, Hashable {
    /// The state of the process.
    package enum ProcessState: String, Sendable {
        /// The process has not opened the store and its keys yet.
        case starting
        case ready
        /// The process answers the requests that it gets, and ends soon.
        case stopping
    }

    /// The state of the store.
    package enum StoreState: String, Sendable {
        case available
        /// The store answers, and refuses commits, for example because its disk is full.
        case readOnly = "read-only"
        case unavailable
        case damaged
    }

    private let process: ProcessState
    private let store: StoreState?

    /// Creates a report; without a state of the store, only the process counts.
    package init(_ process: ProcessState, store: StoreState?) {
        self.process = process
        self.store = store
    }

    /// The answer of `/livez`.
    package static let alive = Array(#"{"status":"alive"}"#.utf8)

    /// Whether a load balancer should send requests to this process.
    package var isReady: Bool { process == .ready && (store ?? .available) == .available }

    package var status: HTTPResponse.Status { isReady ? .ok : .serviceUnavailable }

    package var fields: HTTPFields { isReady ? [:] : [.retryAfter: "5"] }

    package var json: [UInt8] {
        // A process that is ready without its store still answers the metadata and the key set.
        let status = process == .ready && !isReady ? "degraded" : process.rawValue
        let store = store.map { #","store":"\#($0.rawValue)""# } ?? ""
        return Array(#"{"status":"\#(status)"\#(store)}"#.utf8)
    }
}
