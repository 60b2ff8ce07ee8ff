public import Hummingbird

/// What the server knows of the connection that a request came on.
public struct ConnectionContext: RequestContext {
    /// What Hummingbird keeps.
    public var coreContext: CoreRequestContextStorage
    /// The address of the other end; nil where it has none.
    let address: IPAddress?

    /// Reads the address of the connection; no header field is believed here.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress.flatMap(IPAddress.init)
    }
}
