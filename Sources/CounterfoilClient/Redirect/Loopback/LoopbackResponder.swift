import CounterfoilProtocol
import HTTPTypes

/// The responder of a loopback receiver.
///
/// It responds to the first request of each connection. Only the expected callback ends the wait. A request that
/// carries or returns an authorization URL or a callback must come from the user who runs this process.
struct LoopbackResponder: ConnectionResponder {
    let uri: LoopbackRedirectURI
    let port: Int
    let wait: CallbackWait
    let start: StartRedirect
    let peers: PeerCheck

    var timeLimit: Duration { .seconds(30) }

    // The browser may be sending a request at this moment. It will read this page as the response.
    var responseAtEnd: ConnectionResponse { response(Reply(status: .serviceUnavailable, page: .aborted)) }

    func response(to received: [UInt8], known: Int, on descriptor: Int32) -> ConnectionResponse? {
        do throws(LoopbackRequest.Refusal) {
            guard let request = try LoopbackRequest(parsing: received, known: known) else { return nil }
            let answer = reply(to: request, on: descriptor)
            return answer.map { response($0, toHEAD: request.method == "HEAD") } ?? .close
        } catch {
            let status: HTTPResponse.Status =
                switch error {
                case .malformed: .badRequest
                case .targetTooLong: .uriTooLong
                case .headTooLong: .requestHeaderFieldsTooLarge
                }
            return response(Reply(status: status, page: .rejected))
        }
    }

    private struct Reply {
        let status: HTTPResponse.Status
        /// The page; nil for a redirect.
        let page: BrowserPage?
        /// The URL to which the browser is redirected; nil for any other response.
        var location: BrowserURL?
        /// The accepted callback; nil for any other request.
        var callback: AuthorizationCallback?
    }

    /// Returns the reply to a request; nil if the other end is already closed.
    private func reply(to request: LoopbackRequest, on descriptor: Int32) -> Reply? {
        // By DNS rebinding, a web page can make its own host name resolve to loopback and send requests here.
        // `Host` then contains that host name. Reject such requests.
        guard request.hosts.map({ $0.lowercased() }) == [uri.authority(port: port)] else {
            return Reply(status: .badRequest, page: .rejected)
        }
        let target = originForm(of: request.target)
            .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if target.count == 1, start.owns(String(target[0])) { return reply(toStart: request, on: descriptor) }
        guard target.first.map(String.init) == uri.path else { return Reply(status: .notFound, page: .notFound) }
        guard request.method == "GET" else { return Reply(status: .methodNotAllowed, page: .rejected) }
        guard let callback = callback(query: target.count == 2 ? String(target[1]) : "") else {
            return Reply(status: .badRequest, page: .unrelated)
        }
        // Another user of this device can know the `state` and sign in with another account (RFC 9700 §4.7).
        switch peers.verdict(on: descriptor) {
        case .accepted: break
        case .otherUser: return Reply(status: .forbidden, page: .otherUser)
        case .closed: return nil
        }
        switch wait.decide(on: callback) {
        case .unrelated: return Reply(status: .badRequest, page: .unrelated)
        case .ended(.answered): return Reply(status: .gone, page: .ended)
        case .ended(.aborted): return Reply(status: .gone, page: .aborted)
        case .accepted(.code): return Reply(status: .ok, page: .received, callback: callback)
        case .accepted(.signedOut): return Reply(status: .ok, page: .signedOut, callback: callback)
        case .accepted(.refused): return Reply(status: .ok, page: .refused, callback: callback)
        case .accepted(.unsafe): return Reply(status: .badRequest, page: .unsafe, callback: callback)
        }
    }

    /// Redirects the first request of this user to the server.
    private func reply(toStart request: LoopbackRequest, on descriptor: Int32) -> Reply? {
        guard request.method == "GET" else { return Reply(status: .methodNotAllowed, page: .rejected) }
        switch peers.verdict(on: descriptor) {
        case .accepted: break
        case .otherUser: return Reply(status: .forbidden, page: .otherUser)
        case .closed: return nil
        }
        switch wait.end {
        case .answered: return Reply(status: .gone, page: .ended)
        case .aborted: return Reply(status: .gone, page: .aborted)
        case nil: break
        }
        guard let destination = start.use() else { return Reply(status: .gone, page: .started) }
        return Reply(status: .found, page: nil, location: destination)
    }

    /// Removes the origin from a target in absolute form (RFC 9112 §3.2.2).
    private func originForm(of target: String) -> Substring {
        let origin = "http://\(uri.authority(port: port))/"
        return target.hasPrefix(origin) ? target.dropFirst(origin.count - 1) : Substring(target)
    }

    /// Parses the query of a callback; nil if it does not begin with the registered query or is malformed.
    private func callback(query: String) -> AuthorizationCallback? {
        if let registered = uri.query, !registered.isEmpty {
            guard query == registered || query.hasPrefix(registered + "&") else { return nil }
        }
        guard let redirectURI = try? uri.redirectURI(port: port),
            let parameters = try? FormParameters(parsing: query, byteLimit: LoopbackRequest.targetLimit)
        else { return nil }
        return AuthorizationCallback(at: redirectURI, parameters: parameters)
    }

    private func response(_ reply: Reply, toHEAD isHead: Bool = false) -> ConnectionResponse {
        let body = reply.page?.html ?? ""
        var fields = BrowserPage.headers
        fields.append(("Content-Length", "\(body.utf8.count)"))
        fields.append(("Connection", "close"))
        if let location = reply.location { fields.append(("Location", location.rawValue)) }
        if reply.status == .methodNotAllowed { fields.append(("Allow", "GET")) }
        var text = "HTTP/1.1 \(reply.status.code) \(reply.status.reasonPhrase)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        text += "\r\n" + (isHead ? "" : body)
        var response = ConnectionResponse(bytes: Array(text.utf8))
        // Deliver the callback only after the page was sent, because the delivery makes the client close the port.
        if let callback = reply.callback { response.afterwards = { wait.deliver(callback) } }
        return response
    }
}
