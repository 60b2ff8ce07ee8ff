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
        self.source = source.channel.remoteAddress?.ipAddress ?? "unknown"
    }
}
