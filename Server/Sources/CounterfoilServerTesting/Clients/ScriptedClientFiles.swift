@_spi(Counterfoil) import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilStore

/// The files that clients publish in a test, in place of the hosts on the network.
///
/// A URL without a file is a host that does not exist.
public final class ScriptedClientFiles: ClientFileFetcher {
    private struct State {
        var responses: [String: ClientFileFetch]
        var requests: [ClientFileRequest] = []
    }

    private let state: Mutex<State>

    /// Creates files by their URLs, each of them JSON.
    public init(_ files: [String: String] = [:]) {
        state = Mutex(State(responses: files.mapValues { .json($0) }))
    }

    /// The requests in the order in which they were received.
    public var requests: [ClientFileRequest] { state.withLock { $0.requests } }

    /// Sets the response to every later request for a URL.
    public func set(_ url: String, _ response: ClientFileFetch) { state.withLock { $0.responses[url] = response } }

    /// Records a request and returns its response.
    public func fetch(_ request: ClientFileRequest, for context: RequestContext?) async -> ClientFileFetch {
        state.withLock { state in
            state.requests.append(request)
            return state.responses[request.url.rawValue] ?? .failed(.unknownHost)
        }
    }
}

extension ClientFileFetch {
    /// The response of a host with a JSON file.
    public static func json(_ text: String) -> ClientFileFetch {
        .answered(Response(status: 200, contentType: "application/json", body: Array(text.utf8)))
    }
}
