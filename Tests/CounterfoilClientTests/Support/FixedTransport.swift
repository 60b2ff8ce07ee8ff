import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import HTTPTypes

/// A transport without a network, which returns one JSON body for each path and 404 for every other path.
final class FixedTransport: HTTPTransport {
    private struct State {
        var bodies: [String: String]
        var headerFields: HTTPFields
        var status: Int
        var failures: [String: Int] = [:]
        var paths: [String] = []
    }

    private let state: Mutex<State>

    init(bodies: [String: String], headerFields: HTTPFields = [:]) {
        state = Mutex(State(bodies: bodies, headerFields: headerFields, status: 200))
    }

    /// The paths of the requests, in order.
    var paths: [String] { state.withLock { $0.paths } }

    /// Replaces the status of every later response.
    func fail(with status: Int) { state.withLock { $0.status = status } }

    /// Replaces the status of later responses at a path; nil ends that.
    func fail(with status: Int?, at path: String) { state.withLock { $0.failures[path] = status } }

    /// Replaces the body at a path; nil removes it.
    func set(_ body: String?, at path: String) { state.withLock { $0.bodies[path] = body } }

    /// Returns the paths of the requests since the last call.
    func takePaths() -> [String] {
        state.withLock { state in
            defer { state.paths = [] }
            return state.paths
        }
    }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        state.withLock { state in
            let path = request.endpoint.uri.path
            state.paths.append(path)
            guard let body = state.bodies[path] else {
                return TransportResponse(head: .init(status: .notFound), body: [])
            }
            return TransportResponse(
                head: HTTPResponse(
                    status: .init(code: state.failures[path] ?? state.status), headerFields: state.headerFields),
                body: Array(body.utf8))
        }
    }
}
