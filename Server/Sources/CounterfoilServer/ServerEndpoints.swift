import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

extension ServerComponents {
    /// The parts of the server with the endpoints of the protocol.
    static func protocolParts(pages: ServerPages) -> [EndpointPart] {
        [
            { $0.health(pages.linked).handlers },
            { $0.metadataEndpoint.handlers },
            { AuthorizationEndpoint(flow: $0.flow, pages: $0.authorizationPages, sessions: $0.sessions).handlers },
            { SignInEndpoint(flow: $0.flow, pages: $0.authorizationPages).handlers },
            { $0.consent(.consent).handlers },
            { $0.consent(.confirmation).handlers },
            { DeviceEndpoint(flow: $0.deviceFlow, pages: $0.devicePages, sessions: $0.sessions).handlers },
            { DeviceConsentEndpoint(flow: $0.deviceFlow, pages: $0.devicePages, sessions: $0.sessions).handlers },
            { $0.registration.handlers },
            { $0.registeredClient.handlers },
            {
                PushedAuthorizationEndpoint(authenticator: $0.authenticator, flow: $0.flow, proofs: $0.proofs).handlers
            },
            { $0.token.handlers },
            { $0.deviceAuthorization.handlers },
            { $0.revocation.handlers },
            { $0.introspection.handlers },
            { $0.userInfo.handlers },
            { $0.logout(pages.linked).handlers },
            { $0.externalSignIn(pages.linked).handlers },
            { $0.setup(pages.linked).handlers },
            { $0.recovery(pages.linked).handlers },
            { $0.signUp(pages.linked).handlers },
            { TermsEndpoint(continuation: $0.continuation(pages.linked)).handlers },
            { PasskeyOfferEndpoint(continuation: $0.continuation(pages.linked)).handlers },
            { LogoEndpoint(store: $0.store, published: $0.publishedLogos).handlers },
            { CallbackEndpoint(settings: $0.settings, registry: $0.registry).handlers },
            { AssociationEndpoint(settings: $0.settings, registry: $0.registry).handlers },
            { AdministrationAPI(components: $0, pages: pages.endpoints).handlers },
            { SCIMEndpoints(components: $0, pages: pages.endpoints).handlers },
        ]
    }

    private func health(_ pages: LinkedPages) -> HealthEndpoints {
        HealthEndpoints(
            settings: settings, readiness: readiness, pages: pages, addresses: AddressCheck(tickets: tickets))
    }

    private var metadataEndpoint: MetadataEndpoint {
        MetadataEndpoint(
            settings: settings, registry: registry, keys: keys, fetchesDocuments: directory.files != nil,
            cache: metadata)
    }

    private var hints: IDTokenHints { IDTokenHints(issuer: settings.issuer, keys: keys, subjects: subjects) }

    /// The steps that the authorization endpoint and its pages share.
    private var flow: AuthorizationFlow {
        AuthorizationFlow(
            settings: settings, registry: registry, store: store, directory: directory, hints: hints, random: random,
            logger: logger, auditor: auditor, approvals: throttles.approvals, audiences: audiences)
    }

    private var authorizationPages: AuthorizationPages {
        AuthorizationPages(
            settings: settings, registry: registry, tickets: tickets, cookies: cookies,
            signInForm: signInForm(at: .signIn, purpose: .signIn), random: random, introductions: introductions,
            formats: formats, external: externalSignInRequests)
    }

    private var externalSignInRequests: ExternalSignInRequests? {
        settings.externalSignIn.map { external in
            ExternalSignInRequests(
                settings: settings, external: external, keys: keys, cookies: cookies,
                sealing: serverKey.externalSignIns, random: random, wallClock: wallClock)
        }
    }

    private func externalSignIn(_ pages: LinkedPages) -> ExternalSignInEndpoint {
        ExternalSignInEndpoint(
            requests: externalSignInRequests,
            users: ExternalUsers(
                settings: settings, store: store, throttle: throttles.signIns, auditor: auditor, random: random),
            signIn: users, sessions: sessions, pages: authorizationPages, store: store, auditor: auditor,
            signInPath: settings.issuer.path + pages.signIn.path)
    }

    private func consent(_ question: AuthorizationQuestion) -> ConsentEndpoint {
        ConsentEndpoint(question: question, flow: flow, pages: authorizationPages, sessions: sessions)
    }

    private var deviceFlow: DeviceFlow {
        DeviceFlow(
            settings: settings, registry: registry, store: store, directory: directory,
            guesses: UserCodeThrottle(attempts: attempts),
            approvals: throttles.approvals, auditor: auditor, random: random)
    }

    private var devicePages: DevicePages {
        DevicePages(
            settings: settings, registry: registry, store: store, tickets: tickets,
            signInForm: signInForm(at: .deviceSignIn, purpose: .deviceSignIn), random: random,
            introductions: introductions, formats: formats)
    }

    private var registrationLimits: RegistrationLimits {
        RegistrationLimits(
            settings: settings, throttle: throttles.registrations, forgeries: throttles.clients, auditor: auditor)
    }

    private var sectors: SectorIdentifier { SectorIdentifier(files: directory.files, request: request) }

    private var registration: RegistrationEndpoint {
        RegistrationEndpoint(
            settings: settings, registry: registry, store: store, sectors: sectors, limits: registrationLimits,
            auditor: auditor, random: random)
    }

    private var registeredClient: RegisteredClientEndpoint {
        RegisteredClientEndpoint(
            settings: settings, registry: registry, store: store, sectors: sectors, limits: registrationLimits,
            auditor: auditor)
    }

    private var authenticator: ClientAuthenticator {
        ClientAuthenticator(
            issuer: settings.issuer, registry: registry, store: store, directory: directory, assertions: assertions,
            used: throttles.assertions, throttle: throttles.clients, auditor: auditor, wallClock: wallClock)
    }

    /// The `aud` values that a client assertion may have: the issuer, every URL of the token endpoint (RFC 7523 §3),
    /// and the URL of the pushed authorization request endpoint (RFC 9126 §2).
    static func assertionAudiences(of settings: ServerSettings) -> Set<String> {
        let paths =
            [Endpoint.token.path, Endpoint.pushedAuthorization.path] + settings.endpointAliases.paths(of: .token)
        return Set([settings.issuer.rawValue] + paths.map { settings.issuer.endpoint($0) })
    }

    private var refreshTokens: RefreshTokenCodec { RefreshTokenCodec(keys: serverKey.refreshTokens) }

    private var token: TokenEndpoint {
        let issuer = TokenIssuer(
            settings: settings, keys: keys, subjects: subjects, random: random, clock: clock, wallClock: wallClock,
            span: request?.span)
        return TokenEndpoint(
            authenticator: authenticator, metrics: metrics, audiences: audiences, proofs: proofs,
            context: GrantContext(
                settings: settings, registry: registry, store: store, keys: keys, issuer: issuer,
                refreshTokens: refreshTokens, previousKeyTokens: previousKeyTokens, challenges: challenges,
                proofs: proofs,
                auditor: auditor, redemptions: redemptions))
    }

    private var deviceAuthorization: DeviceAuthorizationEndpoint {
        DeviceAuthorizationEndpoint(
            settings: settings, authenticator: authenticator, registry: registry, store: store, audiences: audiences,
            auditor: auditor, random: random)
    }

    private var revocation: RevocationEndpoint {
        RevocationEndpoint(
            authenticator: authenticator, store: store, refreshTokens: refreshTokens,
            accessTokens: IssuedAccessTokenVerifier(issuer: settings.issuer), keys: keys, auditor: auditor)
    }

    private var introspection: IntrospectionEndpoint {
        IntrospectionEndpoint(
            settings: settings,
            callers: IntrospectionAuthenticator(clients: authenticator, registry: registry), registry: registry,
            store: store, accessTokens: knownAccessTokens, keys: keys, wallClock: wallClock)
    }

    private var userInfo: UserInfoEndpoint {
        UserInfoEndpoint(settings: settings, registry: registry, store: store, tokens: accessTokenCheck)
    }

    /// The verification of access tokens at protected endpoints of this server.
    var accessTokenCheck: AccessTokenCheck {
        AccessTokenCheck(
            issuer: settings.issuer, accessTokens: knownAccessTokens, keys: keys, proofs: proofs,
            throttle: throttles.clients, auditor: auditor, wallClock: wallClock)
    }

    private func logout(_ pages: LinkedPages) -> LogoutEndpoint {
        LogoutEndpoint(
            settings: settings, directory: directory, sessions: sessions, hints: hints, tickets: tickets,
            auditor: auditor, random: random, pages: pages, logger: logger,
            noticedRefusals: throttles.refusedLogoutRedirects)
    }

    private func recovery(_ pages: LinkedPages) -> RecoveryEndpoint {
        RecoveryEndpoint(
            settings: settings, form: signInForm(at: .recovery, purpose: .recovery),
            destinations: RecoveryDestinations(
                issuer: settings.issuer, flow: flow, authorization: authorizationPages, device: devicePages,
                pages: pages),
            mails: mails, attempts: attempts, auditor: auditor)
    }

    private func signUp(_ pages: LinkedPages) -> SignUpEndpoint {
        let signInPath = settings.issuer.path + pages.signIn.path
        let newAccount = NewAccountForm(
            settings: settings, store: store, registry: registry, flow: flow, pages: authorizationPages,
            consoleForm: signInForm(at: pages.signIn, purpose: .consoleSignIn),
            throttle: SignUpThrottle(attempts: attempts, issuer: settings.issuer), hasher: hasher, auditor: auditor,
            signInPath: signInPath, homePath: settings.issuer.path + pages.home.path)
        return SignUpEndpoint(
            flow: flow, pages: authorizationPages, mails: mails, newAccount: newAccount, auditor: auditor,
            signInPath: signInPath)
    }

    private func continuation(_ pages: LinkedPages) -> SignInContinuation {
        SignInContinuation(
            flow: flow, pages: authorizationPages, devicePages: devicePages, sessions: sessions,
            signInPath: settings.issuer.path + pages.signIn.path)
    }

    private func setup(_ pages: LinkedPages) -> SetupEndpoint {
        SetupEndpoint(
            settings: settings, store: store, hasher: hasher, link: setupLink, auditor: auditor,
            signInPath: settings.issuer.path + pages.signIn.path,
            firstStepsPath: settings.issuer.path + pages.firstSteps.path)
    }
}
