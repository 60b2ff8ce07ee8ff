package import CounterfoilPlatform
public import CounterfoilProtocol

extension TokenSession {
    /// Creates a session of a registered client at a server; the credentials can be stored before or after this call.
    ///
    /// `origins` are the origins of the APIs that the session may call; nil means the ones that were named at the
    /// sign-in (``Credentials/allowedOrigins``).
    public init(
        issuer: Issuer, clientID: ClientIdentifier, store: any TokenStore, profile: ProfileName = .standard,
        origins: Set<APIOrigin>? = nil, transport: any HTTPTransport = .standard
    ) {
        self.init(
            .client(ClientIdentification(clientID, at: issuer), at: issuer), store: store, profile: profile,
            origins: origins.map { .these($0) } ?? .stored, transport: transport)
    }

    /// Creates a session for the user whom a sign-in signs in, with its server, client, APIs and transport.
    ///
    /// ``signedIn(onEvent:)`` runs the sign-in if no user is signed in.
    public init(for signIn: NativeSignIn, store: any TokenStore, profile: ProfileName = .standard) {
        self.init(for: signIn, store: store, profile: profile, now: { Date() })
    }

    /// Creates a session for a sign-in, with a custom clock.
    package init(
        for signIn: NativeSignIn, store: any TokenStore, profile: ProfileName = .standard,
        now: @escaping @Sendable () -> Date
    ) {
        self.init(
            .client(signIn.client, at: signIn.issuer), store: store, profile: profile,
            origins: Origins(signIn.options.apiOrigins, signIn.options.resources), transport: signIn.transport,
            ownSignIn: signIn, now: now)
    }

    /// Creates a session for the user whom a sign-in on another device signs in, with its server, client, APIs and
    /// transport.
    ///
    /// Pass the run of the sign-in to ``signedIn(_:)``, because it shows a code to the user.
    public init(for signIn: DeviceSignIn, store: any TokenStore, profile: ProfileName = .standard) {
        self.init(
            .client(signIn.client, at: signIn.issuer), store: store, profile: profile,
            origins: Origins(signIn.options.apiOrigins, signIn.options.resources), transport: signIn.transport)
    }

    /// Creates a session for the stored sign-in of a profile, whatever its issuer and its client.
    ///
    /// This is for programs that manage the sign-ins of a store and know no server, such as a command line. An app
    /// names its server and its client instead. If the server has forgotten a client that registered itself, the
    /// session deletes the registration from `registrations`.
    public init(
        ofAnyClientIn store: any TokenStore, profile: ProfileName = .standard,
        registrations: (any ClientRegistrationStore)? = nil, transport: any HTTPTransport = .standard
    ) {
        self.init(
            .any(registrations: registrations), store: store, profile: profile, origins: .stored, transport: transport)
    }

    /// Creates a session for the stored sign-in of a profile, which remembers the API of the first successful call if
    /// the sign-in named none.
    package init(
        ofAnyClientIn store: any TokenStore & ClientRegistrationStore, profile: ProfileName,
        rememberingFirstOriginOver transport: any HTTPTransport, host: RefreshHost
    ) {
        self.init(
            .any(registrations: store), store: store, profile: profile, origins: .storedOrFirst, transport: transport,
            host: host)
    }

    /// Creates a session for the stored sign-in of a profile, with a custom clock.
    package init(
        ofAnyClientIn store: any TokenStore, profile: ProfileName = .standard,
        registrations: (any ClientRegistrationStore)? = nil, transport: any HTTPTransport = .standard,
        now: @escaping @Sendable () -> Date
    ) {
        self.init(
            .any(registrations: registrations), store: store, profile: profile, origins: .stored,
            transport: transport, now: now)
    }
}

extension TokenSession.Origins {
    /// The origins that a sign-in names; the stored ones if it names none.
    fileprivate init(_ origins: Set<APIOrigin>, _ resources: [Resource]) {
        let named = origins.union(resources.origins)
        self = named.isEmpty ? .stored : .these(named)
    }
}
