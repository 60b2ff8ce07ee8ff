import CounterfoilServer
import CounterfoilStore

/// A page without its contents, by the name of its template.
enum PageKind: String, CaseIterable, Sendable {
    case signIn = "sign-in", consent, `continue`, proceed = "go-on", signOut = "sign-out", signedOut = "signed-out"
    case code, codeSetup = "code-setup", recoveryCodes = "recovery-codes"
    case recovery, recoverySent = "recovery-sent", newPassword = "new-password"
    case deviceCode = "device-code", deviceDone = "device-done"
    case signUp = "sign-up", signUpSent = "sign-up-sent", newAccount = "new-account", terms
    case passkeyOffer = "passkey-offer"
    case webView = "web-view", appLink = "app-link", problem, setup, setupDone = "setup-done"
    case clients = "applications", clientTypes = "application-types", clientForm = "application-form", client =
        "application"
    case connect, secrets, developers = "application-developers", deleteClient = "delete-application", policy, decision,
        logo, association
    case users, invitations, newUser = "new-user", user, userAttributes = "user-attributes", deleteUser =
        "delete-user"
    case overview, administration, branding, audit, mailPreview = "mail-preview"
    case unregisteredClients = "unregistered-clients", unregisteredPolicy = "unregistered-policy"
    case unregisteredFamily = "unregistered-family", unregisteredClient = "unregistered-client"
    case scopes, scopeForm = "scope-form", apis, apiForm = "api-form", api, deleteRecord = "delete-record"
    case availableAPIs = "available-apis"
    case server, certificate, serverSettings = "server-settings", keys, changeKey = "change-key"
    case registrationTokens = "registration-tokens", testMail = "test-mail"
    case webhooks, webhookForm = "webhook-form", webhook
    case account, connectedClient = "connected-application", sessions, passkeys, secondFactor = "second-factor",
        password, email, activity

    /// The kind of a page; nil for a page that has no case here.
    init?(_ page: any Page) { self.init(rawValue: type(of: page).template) }

    /// Whether the page needs a session, so that only a journey on the real server reaches it.
    var isOfConsole: Bool {
        switch self {
        case .signIn, .consent, .continue, .proceed, .signOut, .signedOut, .webView, .appLink, .problem, .setup,
            .setupDone, .deviceCode, .deviceDone, .code, .codeSetup, .recoveryCodes, .recovery, .recoverySent,
            .newPassword, .signUp, .signUpSent, .newAccount, .terms, .passkeyOffer:
            false
        case .clients, .clientTypes, .clientForm, .client, .connect, .secrets, .developers, .deleteClient,
            .policy, .decision, .logo, .association, .users, .invitations, .newUser, .user, .userAttributes,
            .deleteUser, .overview, .administration, .branding, .audit, .mailPreview,
            .unregisteredClients,
            .unregisteredPolicy, .unregisteredFamily, .unregisteredClient, .account, .connectedClient, .sessions,
            .passkeys, .secondFactor, .password, .email, .activity, .scopes, .scopeForm, .apis, .apiForm, .api,
            .deleteRecord, .availableAPIs, .server, .certificate, .serverSettings, .keys, .changeKey,
            .registrationTokens, .testMail, .webhooks, .webhookForm, .webhook:
            true
        }
    }
}
