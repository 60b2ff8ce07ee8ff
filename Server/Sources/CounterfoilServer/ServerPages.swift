/// The pages for signed-in users, which another module adds to the server.
///
/// The protocol endpoints use five of these pages: the home page, the sign-in page for a user who opened this server
/// directly, the change of the password, the first steps of the first administrator, and the settings of a client, to
/// which an error page leads its developer.
public struct ServerPages: Sendable {
    /// The page to which `/` redirects.
    package let home: Endpoint
    /// The sign-in page for a user who opened this server directly, not at the request of a client.
    package let signIn: Endpoint
    /// The page on which a user changes the password.
    package let passwordChange: Endpoint
    /// The page to which the first administrator comes after the first sign-in.
    package let firstSteps: Endpoint
    /// The page on which a developer changes the registration of a client, whose path has `{client_id}`.
    package let clientSettings: Endpoint
    package let endpoints: [Endpoint]
    /// The source texts of the page templates by template name, in UTF-8.
    package let templates: [String: [UInt8]]
    package let formats: ContentFormats
    /// The parts with the handlers of ``endpoints``.
    package let parts: [EndpointPart]

    package init(
        home: Endpoint, signIn: Endpoint, passwordChange: Endpoint, firstSteps: Endpoint, clientSettings: Endpoint,
        endpoints: [Endpoint],
        templates: [String: [UInt8]],
        formats: ContentFormats,
        parts: [EndpointPart]
    ) {
        self.home = home
        self.signIn = signIn
        self.passwordChange = passwordChange
        self.firstSteps = firstSteps
        self.clientSettings = clientSettings
        self.endpoints = endpoints
        self.templates = templates
        self.formats = formats
        self.parts = parts
    }
}
