/// The pages for signed-in users, which another module adds to the server.
///
/// The protocol knows two of them: the one that `/` leads to, and the one on which a user signs in without a client.
public struct ServerPages: Sendable {
    /// The page that `/` leads to.
    package let home: Endpoint
    /// The page on which a user signs in.
    package let signIn: Endpoint
    /// Every endpoint of the pages.
    package let endpoints: [Endpoint]
    /// The templates of the pages by their names, in UTF-8.
    package let templates: [String: [UInt8]]
    /// Puts the pages together from what they share with the protocol.
    package let handlers: @Sendable (ServerComponents) -> [EndpointHandler]

    package init(
        home: Endpoint, signIn: Endpoint, endpoints: [Endpoint], templates: [String: [UInt8]],
        handlers: @escaping @Sendable (ServerComponents) -> [EndpointHandler]
    ) {
        self.home = home
        self.signIn = signIn
        self.endpoints = endpoints
        self.templates = templates
        self.handlers = handlers
    }
}
