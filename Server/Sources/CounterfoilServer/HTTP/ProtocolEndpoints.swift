import HTTPTypes

extension Endpoint {
    /// All endpoints except those of the pages for signed-in users, which ``ServerPages`` adds.
    package static let protocolEndpoints = ofProtocol + administrationAPI + scim

    private static let ofProtocol = [
        home, liveness, readiness, processReadiness, metadata, keySet, authorization, signIn, consent, confirmation,
        pushedAuthorization, token, deviceAuthorization, device, deviceSignIn, deviceConsent, revocation,
        introspection, userInfo, logout,
        logoutAnswer, registration, registeredClient, externalSignIn, setup, recovery, signUp, terms, passkeyOffer,
        passwordChange,
        passkeyEndpoints,
        logo, callback,
        appleAssociation,
        androidAssociation,
    ]

    /// The root of the server, which redirects every browser to the sign-in page (``ServerPages``), and so to the first
    /// page of a signed-in user.
    public static let home = Endpoint(
        name: "home", path: "/", methods: [.get, .head], bodyLimit: 0, answersUsers: true, location: .root)

    /// The health check of the process, which depends on nothing else.
    public static let liveness = reading("liveness", "/livez").with {
        $0.isHealth = true
        $0.isAtCallbackOrigin = true
    }

    /// The check whether the process can serve sign-ins, so that a load balancer should send requests to it.
    public static let readiness = reading("readiness", "/readyz").with {
        $0.isHealth = true
        $0.isAtCallbackOrigin = true
    }

    /// The same check without the store, for the load balancer that has lost the database of all servers.
    public static let processReadiness = reading("processReadiness", "/readyz/process").with {
        $0.isHealth = true
        $0.isAtCallbackOrigin = true
    }

    /// The server metadata (RFC 8414 §3, OpenID Connect Discovery §4).
    public static let metadata = reading("metadata", "/.well-known/openid-configuration", scriptAccess: .everyone)
        .with { $0.location = .metadata }

    /// The public signing keys of the server, `jwks_uri` in the metadata (RFC 7517 §5).
    public static let keySet = reading("keySet", "/oauth2/jwks", scriptAccess: .everyone)

    // Single-page apps open the next four endpoints in a popup, too. The page to which the popup returns reports to the
    // page that opened it.

    /// The authorization endpoint, for GET and POST (RFC 6749 §3.1).
    public static let authorization = form("authorization", "/oauth2/authorize", bodyLimit: 32 * 1024)
        .with { $0.keepsOpener = true }

    // The body limit of the next three endpoints is higher than that of the authorization endpoint. Their forms contain
    // the authorization request, form-encoded twice, and the user's input.

    /// The endpoint that the form of the sign-in page is posted to.
    public static let signIn = posting("signIn", "/oauth2/authorize/sign-in", bodyLimit: 128 * 1024)
        .with { $0.keepsOpener = true }

    /// The endpoint that the form of the consent page is posted to.
    public static let consent = posting("consent", "/oauth2/authorize/consent", bodyLimit: 128 * 1024)
        .with { $0.keepsOpener = true }

    /// The endpoint that the form of the page "Continue as …" is posted to.
    public static let confirmation = posting("confirmation", "/oauth2/authorize/continue", bodyLimit: 128 * 1024)
        .with { $0.keepsOpener = true }

    /// The pushed authorization request endpoint, which scripts of single-page apps can call from registered origins
    /// (RFC 9126 §2).
    public static let pushedAuthorization = Endpoint(
        name: "pushedAuthorization", path: "/oauth2/par", methods: [.post], bodyLimit: authorization.bodyLimit,
        answersUsers: false, scriptAccess: .registered)

    /// The token endpoint, which scripts of single-page apps can call from registered origins (RFC 6749 §3.2).
    public static let token = answering("token", "/oauth2/token", scriptAccess: .registered)

    /// The device authorization endpoint (RFC 8628 §3.1), which no script calls.
    public static let deviceAuthorization = answering("deviceAuthorization", "/oauth2/device_authorization")

    /// The page on which a user types the code that a device shows, `verification_uri` (RFC 8628 §3.3).
    public static let device = form("device", "/device", bodyLimit: 32 * 1024)

    /// The endpoint that the form of the sign-in page is posted to when a user has typed the code of a device.
    public static let deviceSignIn = posting("deviceSignIn", "/device/sign-in")

    /// The endpoint that the form of the page with the permissions of a device is posted to.
    public static let deviceConsent = posting("deviceConsent", "/device/consent")

    /// The revocation endpoint, which scripts of single-page apps can call from registered origins (RFC 7009 §2).
    public static let revocation = answering("revocation", "/oauth2/revoke", scriptAccess: .registered)

    /// The introspection endpoint, for APIs and confidential clients (RFC 7662 §2).
    public static let introspection = answering("introspection", "/oauth2/introspect")

    /// The UserInfo endpoint, for GET and POST (OpenID Connect Core §5.3).
    public static let userInfo = answering("userInfo", "/oauth2/userinfo", [.get, .post], scriptAccess: .registered)

    /// The logout endpoint, for GET and POST (OpenID Connect RP-Initiated Logout §2).
    public static let logout = form("logout", "/oauth2/logout", bodyLimit: 32 * 1024)

    /// The endpoint that the form of the sign-out page is posted to.
    public static let logoutAnswer = posting("logoutAnswer", "/oauth2/logout/answer", bodyLimit: 128 * 1024)

    // A client that registers itself can be a page of any origin. It has no cookie of this server.

    /// The client registration endpoint (RFC 7591 §3).
    public static let registration = answering("registration", "/oauth2/register", scriptAccess: .everyone)

    /// The client configuration endpoint, at which a client manages its own registration (RFC 7592 §2).
    public static let registeredClient = answering(
        "registeredClient", "/oauth2/register/{client_id}", [.get, .put, .delete], scriptAccess: .everyone)

    /// The page behind the one-time link with which the first owner creates an account.
    public static let setup = form("setup", "/setup", bodyLimit: 32 * 1024)

    /// The endpoint that leads to the page of the owner, and to which that page sends the browser back.
    public static let externalSignIn = form("externalSignIn", "/sign-in/external", bodyLimit: 32 * 1024)
        .with { $0.keepsOpener = true }

    // The form of the next four can contain an authorization request, which an app can have opened in a popup.

    /// The page on which a user who cannot sign in sets a new password, and to which links lead.
    public static let recovery = form("recovery", "/recover").with { $0.keepsOpener = true }

    /// The page on which a person creates an account, behind an invitation or a link in a mail.
    public static let signUp = form("signUp", "/sign-up").with { $0.keepsOpener = true }

    /// The page on which a signed-in user accepts the terms of the service.
    public static let terms = form("terms", "/terms").with { $0.keepsOpener = true }

    /// The endpoint that the form of the page with the offer of a passkey is posted to.
    public static let passkeyOffer = posting("passkeyOffer", "/passkey-offer", bodyLimit: 128 * 1024)
        .with { $0.keepsOpener = true }

    /// The URL at which password managers find the change of the password (W3C change-password URL).
    public static let passwordChange = Endpoint(
        name: "passwordChange", path: "/.well-known/change-password", methods: [.get, .head], bodyLimit: 0,
        answersUsers: true, location: .host)

    /// The URL at which password managers find the page of the passkeys (W3C, passkey endpoints).
    public static let passkeyEndpoints = reading("passkeyEndpoints", "/.well-known/passkey-endpoints").with {
        $0.location = .host
    }

    /// The logos of clients and of the site.
    public static let logo = reading("logo", "/logos/{logo}")

    /// The callback URL of a native client: an https redirect URI at this server that the client's app can claim
    /// (RFC 8252 §7.2).
    public static let callback = page("callback", "/callback/{client_id}").with { $0.isAtCallbackOrigin = true }

    /// The association file of this host for Apple's systems, which lists the apps that may claim its callback URLs.
    public static let appleAssociation = reading("appleAssociation", "/.well-known/apple-app-site-association").with {
        $0.location = .host
        $0.isAtCallbackOrigin = true
    }

    /// The association file of this host for Android, which lists the apps that may claim its URLs.
    public static let androidAssociation = reading("androidAssociation", "/.well-known/assetlinks.json").with {
        $0.location = .host
        $0.isAtCallbackOrigin = true
    }
}
