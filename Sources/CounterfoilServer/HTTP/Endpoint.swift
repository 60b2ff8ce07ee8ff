public import CounterfoilProtocol
public import HTTPTypes

/// What the server answers, by address.
public enum Endpoint: Sendable, CaseIterable {
    /// The root, which leads to the account.
    case home
    /// Whether the process lives.
    case liveness
    /// Whether the process can serve.
    case readiness
    /// The metadata (RFC 8414 §3).
    case metadata
    /// `jwks_uri` (RFC 7517 §5).
    case keySet
    /// The authorization endpoint (RFC 6749 §3.1).
    case authorization
    /// Where the sign-in page of an authorization sends what was typed.
    case signIn
    /// Where the consent page sends what was decided.
    case consent
    /// Where the page that confirms a sign-in sends what was decided.
    case confirmation
    /// The token endpoint (RFC 6749 §3.2).
    case token
    /// The revocation endpoint (RFC 7009 §2).
    case revocation
    /// The introspection endpoint (RFC 7662 §2).
    case introspection
    /// The UserInfo endpoint (OpenID Connect Core §5.3).
    case userInfo
    /// The end of a session at the wish of an application (OpenID Connect RP-Initiated Logout §2).
    case logout
    /// Where the page that asks whether to sign out sends what was decided.
    case logoutAnswer
    /// The page of the one-time link that makes the first administrator.
    case setup
    /// The sign-in page of the pages for people who are signed in.
    case consoleSignIn
    /// A person's connected applications.
    case account
    /// What one application may do for a person.
    case connectedApplication
    /// The browsers in which a person is signed in.
    case sessions
    /// A new password.
    case password
    /// The end of the session of this browser.
    case signOut
    /// A developer's own applications.
    case applications
    /// The registration of an application.
    case newApplication
    /// What is registered of an application.
    case application
    /// Changing what is registered of an application.
    case editApplication
    /// The picture of an application.
    case applicationLogo
    /// What the administrator decides about an application.
    case applicationPolicy
    /// How to connect an application to this server.
    case connectApplication
    /// The secrets of a confidential application.
    case applicationSecrets
    /// Whether the host of a claimed https address names the application.
    case applicationAssociation
    /// The end of an application.
    case deleteApplication
    /// The verdicts on redirect URIs while they are typed.
    case verdicts
    /// Every application, for administrators.
    case administration
    /// How the pages look like the owner's own.
    case branding
    /// What happened, for administrators.
    case audit
    /// The pictures of applications and of the site.
    case logo
    /// An https address on this host that an application has claimed (RFC 8252 §7.2).
    case callback
    /// Which apps of Apple's platforms have claimed addresses on this host.
    case appleAssociation
    /// Which apps of Android have claimed addresses on this host.
    case androidAssociation

    /// Who reads the answer.
    fileprivate enum Reader {
        case program
        case person
    }

    /// Whose scripts may read the answer.
    enum ScriptAccess {
        /// Nobody's but those of our own pages.
        case none
        /// Those of the origins that single-page applications are registered for.
        case registered
        /// Everybody's.
        case everyone
    }

    /// What distinguishes an endpoint for everything that carries requests to it.
    fileprivate struct Traits {
        let path: String
        let methods: [HTTPRequest.Method]
        let reader: Reader
        var bodyLimit = 32 * 1024
        var scriptAccess = ScriptAccess.none
    }

    fileprivate var traits: Traits {
        switch self {
        case .home: Traits(path: "/", methods: [.get, .head], reader: .person, bodyLimit: 0)
        case .liveness: .reading("/healthz")
        case .readiness: .reading("/readyz")
        case .metadata: .reading("/.well-known/openid-configuration", scriptAccess: .everyone)
        case .keySet: .reading("/oauth2/jwks", scriptAccess: .everyone)
        case .appleAssociation: .reading("/.well-known/apple-app-site-association")
        case .androidAssociation: .reading("/.well-known/assetlinks.json")
        case .logo: .reading("/logos/{logo}")
        case .token: .answering("/oauth2/token", [.post], scriptAccess: .registered)
        case .revocation: .answering("/oauth2/revoke", [.post], scriptAccess: .registered)
        case .introspection: .answering("/oauth2/introspect", [.post])
        case .userInfo: .answering("/oauth2/userinfo", [.get, .post], scriptAccess: .registered)
        case .logout: .form("/oauth2/logout", bodyLimit: 32 * 1024)
        case .logoutAnswer: .posting("/oauth2/logout/answer", bodyLimit: 128 * 1024)
        case .verdicts: Traits(path: "/apps/verdict", methods: [.post], reader: .program, bodyLimit: 128 * 1024)
        case .authorization: .form("/oauth2/authorize", bodyLimit: 32 * 1024)
        // These carry an authorization request, which is encoded twice, beside what was typed.
        case .signIn: .posting("/oauth2/authorize/sign-in", bodyLimit: 128 * 1024)
        case .consent: .posting("/oauth2/authorize/consent", bodyLimit: 128 * 1024)
        case .confirmation: .posting("/oauth2/authorize/continue", bodyLimit: 128 * 1024)
        case .setup: .form("/setup", bodyLimit: 32 * 1024)
        case .consoleSignIn: .form("/sign-in", bodyLimit: 16 * 1024)
        case .account: .page("/account")
        case .connectedApplication: .form("/account/apps/{client_id}")
        case .sessions: .form("/account/sessions")
        case .password: .form("/account/password")
        case .signOut: .posting("/account/sign-out")
        case .applications: .page("/apps")
        case .newApplication: .form("/apps/new")
        case .application: .page("/apps/{client_id}")
        case .editApplication: .form("/apps/{client_id}/edit")
        case .applicationLogo: .form("/apps/{client_id}/logo", bodyLimit: 640 * 1024)
        case .applicationPolicy: .form("/apps/{client_id}/policy")
        case .connectApplication: .page("/apps/{client_id}/connect")
        case .applicationSecrets: .form("/apps/{client_id}/secrets")
        case .applicationAssociation: .form("/apps/{client_id}/association")
        case .deleteApplication: .form("/apps/{client_id}/delete")
        case .administration: .page("/admin")
        case .branding: .form("/admin/branding", bodyLimit: 640 * 1024)
        case .audit: .page("/admin/audit")
        case .callback: .page("/callback/{client_id}")
        }
    }

    /// The path under the issuer, in which `{client_id}` and `{logo}` stand for one segment.
    var path: String { traits.path }

    /// The paths at the origin of an issuer; the metadata and the root have up to three, and files of the host lie at its root.
    public func paths(of issuer: Issuer) -> [String] {
        switch self {
        case .metadata: issuer.metadataURLs.map { String($0.dropFirst(issuer.origin.count)) }
        case .appleAssociation, .androidAssociation: [path]
        case .home: Set(["/", issuer.path, issuer.path + "/"].filter { !$0.isEmpty }).sorted()
        default: [issuer.path + path]
        }
    }

    /// The methods that it answers; any other gets 405 with `Allow` and has no effect.
    public var methods: [HTTPRequest.Method] { traits.methods }

    /// The most bytes of a body.
    public var bodyLimit: Int { traits.bodyLimit }

    /// Whether a large body is read for a signed-in user only.
    public var bodyNeedsSession: Bool { isConsole }

    /// Whose scripts may read the answer; never those of strangers at the authorization endpoint (OAuth 2.1 §3.1).
    var scriptAccess: ScriptAccess { traits.scriptAccess }

    /// Whether it answers health checks, which may name any host.
    var isHealth: Bool {
        switch self {
        case .liveness, .readiness: true
        default: false
        }
    }

    /// Whether it answers at an origin for callback addresses, which has no sign-in.
    var isAtCallbackOrigin: Bool {
        switch self {
        case .callback, .appleAssociation, .androidAssociation, .liveness, .readiness: true
        default: false
        }
    }

    /// Whether a person reads the answer; otherwise a program does.
    public var answersPeople: Bool { traits.reader == .person }
}

extension Endpoint.Traits {
    /// Something that clients send a few parameters to, a token or an assertion among them.
    fileprivate static func answering(
        _ path: String, _ methods: [HTTPRequest.Method], scriptAccess: Endpoint.ScriptAccess = .none
    ) -> Self {
        Self(path: path, methods: methods, reader: .program, bodyLimit: 16 * 1024, scriptAccess: scriptAccess)
    }

    /// Something that programs read.
    fileprivate static func reading(_ path: String, scriptAccess: Endpoint.ScriptAccess = .none) -> Self {
        Self(path: path, methods: [.get, .head], reader: .program, bodyLimit: 0, scriptAccess: scriptAccess)
    }

    /// A page without a form of its own.
    fileprivate static func page(_ path: String) -> Self {
        Self(path: path, methods: [.get], reader: .person, bodyLimit: 0)
    }

    /// A page with a form that it takes itself.
    fileprivate static func form(_ path: String, bodyLimit: Int = 128 * 1024) -> Self {
        Self(path: path, methods: [.get, .post], reader: .person, bodyLimit: bodyLimit)
    }

    /// Where the form of another page goes.
    fileprivate static func posting(_ path: String, bodyLimit: Int = 32 * 1024) -> Self {
        Self(path: path, methods: [.post], reader: .person, bodyLimit: bodyLimit)
    }
}
