import Foundation
public import Hummingbird
import NIOCore

/// What the server knows of the connection that a request came on.
public struct ConnectionContext: RequestContext {
    /// What Hummingbird keeps.
    public var coreContext: CoreRequestContextStorage
    /// The address of the other end, without its port; limits count by it.
    public let source: String

    /// Reads the address of the connection; no header field is believed.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        self.source = Self.source(of: source.channel.remoteAddress)
    }

    /// An IPv4 address as it is, an IPv6 address by its first 64 bits, which is what one subscriber has.
    private static func source(of address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "unknown" }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return text }
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10...11].allSatisfy({ $0 == 0xFF }) {
            return bytes.suffix(4).map { String($0) }.joined(separator: ".")
        }
        if bytes.prefix(15).allSatisfy({ $0 == 0 }), bytes[15] == 1 { return "::1" }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":") + "/64"
    }
}
