/// The pages for signed-in users, which another module adds to the server.
///
/// The protocol needs two of them: the home page and the sign-in page without a client.
public struct ServerPages: Sendable {
    /// The page to which `/` redirects.
    package let home: Endpoint
    /// The page on which a user signs in without a client.
    package let signIn: Endpoint
    /// All endpoints of the pages.
    package let endpoints: [Endpoint]
    /// The templates of the pages by name, in UTF-8.
    package let templates: [String: [UInt8]]
    /// Creates the request handlers from the components of the server.
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
