import HTTPTypes
import NIOCore
import NIOHTTP1

/// Refuses HTTP/1 requests whose host or body two recipients could understand in two ways.
///
/// Later handlers see one host for each request, and a target that begins with its path.
final class RequestHeadHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// The error for a refused head; nothing that follows on the connection is read.
    struct Refused: Error {
        let status: HTTPResponse.Status
    }

    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        do throws(Refused) {
            try Self.checkTransferCoding(of: head)
            try Self.settleTarget(of: &head)
        } catch {
            hasRefused = true
            return context.fireErrorCaught(error)
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Throws unless the body is sent as it is, or with the transfer coding `chunked` alone (RFC 9112 §6.1).
    ///
    /// The parser has refused a head that also has `Content-Length`.
    private static func checkTransferCoding(of head: HTTPRequestHead) throws(Refused) {
        let codings = head.headers["Transfer-Encoding"]
        guard !codings.isEmpty else { return }
        guard !head.isOld else { throw Refused(status: .badRequest) }
        guard codings.count == 1, codings[0].trimmingOptionalWhitespace().lowercased() == "chunked" else {
            throw Refused(status: .notImplemented)
        }
    }

    /// Throws unless the head names one host, and makes its target a path (RFC 9112 §3.2).
    private static func settleTarget(of head: inout HTTPRequestHead) throws(Refused) {
        let hosts = head.headers["Host"]
        // RFC 9112 §3.2: only a request of HTTP/1.0 can lack the field, as those of some health checks do.
        guard hosts.count == 1 || hosts.isEmpty && head.isOld else { throw Refused(status: .badRequest) }
        if let host = hosts.first?.trimmingOptionalWhitespace() {
            guard Authority.isValid(host) else { throw Refused(status: .badRequest) }
            if host != hosts[0] { head.headers.replaceOrAdd(name: "Host", value: String(host)) }
        }
        // RFC 9112 §3.2.1 and §3.2.3; CONNECT has no path.
        if head.uri.utf8.first == UInt8(ascii: "/") || head.method == .CONNECT { return }
        if head.uri == "*", head.method == .OPTIONS { return }
        guard let (authority, path) = absolute(head.uri) else { throw Refused(status: .badRequest) }
        // RFC 9112 §3.2.2: the target counts, and `Host` does not.
        head.headers.replaceOrAdd(name: "Host", value: authority)
        head.uri = path
    }

    /// Splits a target in absolute form into its authority and its path with the query; nil for any other text.
    ///
    /// The scheme does not matter: behind a proxy that terminates TLS, a request for https arrives in plain text.
    private static func absolute(_ target: String) -> (authority: String, path: String)? {
        let lowered = target.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lowered.hasPrefix($0) }) else { return nil }
        let rest = target.utf8.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let authority = String(rest[..<end]), Authority.isValid(authority), let path = String(rest[end...]) else {
            return nil
        }
        return (authority, path.hasPrefix("/") ? path : "/" + path)
    }
}

extension HTTPRequestHead {
    /// Whether the request has a version before HTTP/1.1.
    var isOld: Bool { (version.major, version.minor) < (1, 1) }
}
