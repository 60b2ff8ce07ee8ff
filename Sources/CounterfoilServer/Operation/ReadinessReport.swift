package import HTTPTypes

/// The answer of `/readyz`: whether a load balancer should send requests to this process.
///
/// The state of the store is a part of the answer and does not decide it. Otherwise an outage of the database would
/// remove every process from the load balancer, and with them the metadata and the key set, which need no database.
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
    private let store: StoreState

    package init(_ process: ProcessState, store: StoreState) {
        self.process = process
        self.store = store
    }

    /// The answer of `/livez`.
    package static let alive = Array(#"{"status":"alive"}"#.utf8)

    package var status: HTTPResponse.Status { process == .ready ? .ok : .serviceUnavailable }

    package var fields: HTTPFields { process == .ready ? [:] : [.retryAfter: "5"] }

    package var json: [UInt8] {
        Array(#"{"status":"\#(process.rawValue)","store":"\#(store.rawValue)"}"#.utf8)
    }
}
