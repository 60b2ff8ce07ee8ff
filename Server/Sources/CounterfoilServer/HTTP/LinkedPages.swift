/// The pages for signed-in users to which endpoints of the protocol lead.
package struct LinkedPages: Sendable {
    /// The page of a user to which errors and completed actions lead.
    let home: Endpoint
    /// The sign-in page for a user who opened this server directly, not at the request of a client.
    let signIn: Endpoint
    /// The page on which a user changes the password.
    let passwordChange: Endpoint
    /// The page on which a user adds and deletes passkeys.
    let passkeys: Endpoint
    /// The page to which the first owner comes after the first sign-in.
    let firstSteps: Endpoint
    /// The page on which a developer changes the registration of a client, whose path has `{client_id}`.
    let clientSettings: Endpoint

    package init(
        home: Endpoint, signIn: Endpoint, passwordChange: Endpoint, passkeys: Endpoint, firstSteps: Endpoint,
        clientSettings: Endpoint
    ) {
        self.home = home
        self.signIn = signIn
        self.passwordChange = passwordChange
        self.passkeys = passkeys
        self.firstSteps = firstSteps
        self.clientSettings = clientSettings
    }
}
