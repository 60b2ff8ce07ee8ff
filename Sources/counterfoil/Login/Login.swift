import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil login` signs the user in and stores the tokens.
struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in through the system browser and store the token.",
        discussion: """
            The URL to open is always printed on standard error. The browser is the one in $BROWSER, or the default of the \
            system, and it returns the response to this program. Over SSH without a display, or with --browser paste, paste \
            the URL of the page on which the browser ends; it is not echoed. With --device, enter a code on another device.

            The options are stored in the configuration file, so the next sign-in with the same profile needs no others: \
            counterfoil login --profile work. A command line that names a server, a vendor or an API uses none of them.

            Without --client-id, the client is identified by the URL of --client-metadata if the server supports that. \
            Otherwise it registers itself if the server supports that. The registration is stored for the next sign-in and \
            is never used at another server.

            If SSL_CERT_FILE names a file, every command trusts the certificate authorities in it instead of those of the \
            system.

            Examples:
              counterfoil login https://id.example.com --client-id lightbox --scope openid
              counterfoil login https://mcp.example.com --scope "openid offline_access"
              counterfoil login photos.example.com --vendor fotoware --client-id lightbox
              counterfoil login --resource https://api.example.com --device
              counterfoil login --profile work

            \(ExitStatus.help)
            """
    )

    /// The value of --browser: the way to open the authorization URL and to receive the authorization response.
    enum Browser: String, ExpressibleByArgument, CaseIterable, Codable {
        case open
        case print
        case paste
    }

    @Argument(
        help: ArgumentHelp(
            "The issuer URL of the server, exactly as in its metadata, such as https://id.example.com; with --vendor, its host, tenant or region.",
            valueName: "issuer"))
    var issuer: String?

    @OptionGroup var asked: SignInOptions

    @Option(
        help: ArgumentHelp(
            "The origin of an API to which the token may be sent, such as https://photos.example.com. Without it and "
                + "without --resource, it is the origin of the first call. Can be repeated.",
            valueName: "origin"))
    var api: [String] = []

    @Option(
        help: ArgumentHelp(
            "The registered redirect URI: on loopback (without a port, any free one is used) or with a private-use scheme. (default: \(LoopbackRedirectURI.standard))",
            valueName: "uri"))
    var redirectURI: String?

    @Option(help: "Open the browser (the default), only print the URL, or read the pasted response.")
    var browser: Browser?

    @Flag(help: "Sign in on another device: print a URL and a code, and wait.")
    var device = false

    @OptionGroup var deviceOutput: DeviceOutputOptions

    @Option(
        help: ArgumentHelp(
            "The time to wait for the response. (default: 300; with --device, until the code expires)",
            valueName: "seconds"))
    var timeout: Int?

    @Option(help: ArgumentHelp("The user name to suggest on the sign-in page.", valueName: "hint"))
    var loginHint: String?

    @Option(
        help: ArgumentHelp(
            "The name of this device, which a Counterfoil server shows you in the list of your sign-ins. Without it, "
                + "none is sent.",
            valueName: "name"))
    var deviceName: String?

    @Option(
        help: ArgumentHelp(
            "What the server must ask for: none, login, consent, select_account or create. Can be repeated.",
            valueName: "prompt"),
        transform: Self.prompt)
    var prompt: [AuthorizationRequest.Prompt] = []

    @Option(help: "Sign in a user (the default), or a service, which authenticates without a user.")
    var grant: Grant?

    /// The value of --grant: the grant of the tokens (RFC 6749 §1.3).
    enum Grant: String, ExpressibleByArgument, CaseIterable, Codable {
        case authorizationCode = "authorization_code"
        case clientCredentials = "client_credentials"
    }

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...86400).contains(timeout ?? 1) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 86400.")
        }
        if device, redirectURI != nil || browser == .paste {
            throw ValidationError("--device receives no callback here; omit --redirect-uri and --browser paste.")
        }
        if browser == .paste, asked.clientSecretFromStandardInput { throw ValidationError(Self.oneInput) }
        if device, !prompt.isEmpty {
            throw ValidationError("--prompt belongs to a request in the browser; omit it with --device.")
        }
        if prompt.contains(.none), Set(prompt).count > 1 {
            throw ValidationError("--prompt none cannot be combined with another --prompt.")
        }
        if grant == .clientCredentials,
            device || redirectURI != nil || browser != nil || loginHint != nil || deviceName != nil
                || !prompt.isEmpty
        {
            throw ValidationError(
                "A service has no user; omit --device, --redirect-uri, --browser, --login-hint, --device-name "
                    + "and --prompt.")
        }
        // The configuration file may contain what this command line lacks.
        guard settings.namesServer else { return }
        if asked.clientID == nil, asked.clientAuthentication.hasSecret {
            throw ValidationError("A client secret requires a client ID; pass it with --client-id.")
        }
        try deviceOutput.validate(onDevice: device, inJSON: common.json)
    }

    private static func prompt(_ text: String) throws -> AuthorizationRequest.Prompt {
        guard let prompt = AuthorizationRequest.Prompt(rawValue: text) else {
            throw ValidationError("--prompt is '\(text)'; it must be none, login, consent, select_account or create.")
        }
        return prompt
    }

    private static let oneInput =
        "Standard input cannot supply both the secret and the pasted URL; use --client-secret-file."

    func run() async throws {
        let console = common.console
        try await console.run {
            let file = ConfigurationFile.ofThisUser()
            try await completed(from: file).signIn(rememberingIn: file)
        }
    }

    /// Signs in with complete options, stores the tokens, and remembers the options.
    private func signIn(rememberingIn file: ConfigurationFile) async throws {
        let console = common.console
        try HomeDirectory.check()
        // Write to the store first, so that an unusable store is reported before the user has signed in.
        let opened = try await (common.store ?? .automatic).open(application: .commandLine)
        try await opened.store.checkWritable(common.profile)
        // A record that cannot be read is replaced.
        let former = try? await opened.store.credentials(of: common.profile)
        let session = TokenSession(ofAnyClientIn: opened.store, profile: common.profile)
        if common.store ?? .automatic == .automatic || opened.location == .memory || common.verbose {
            console.say("\(opened)".capitalizedSentence)
        }
        let target = try await asked.target(issuer)
        let credentials: Credentials
        do {
            credentials = try await runUntilInterrupted {
                let fresh: Credentials
                if grant == .clientCredentials {
                    fresh = try await signInService(at: target)
                } else {
                    let client = try asked.client(at: target, keeping: opened.store)
                    fresh =
                        try await device
                        ? signInOnDevice(at: target, as: client) : signIn(at: target, as: client, former: former)
                }
                return try await revokingUnstoredSignIn(in: session, replacing: former) {
                    try await session.adopt(fresh)
                }
            }
        } catch let error as SignInError {
            // Most failed sign-ins at a vendor's own server are caused by a wrong registration of the client. Show the
            // vendor's advice for the registration.
            if error != .cancelled, let profile = await target.vendor?.profileOfVendorsServer() {
                for sentence in profile.advice { console.say("\(profile.title): \(sentence)") }
            }
            throw error
        }
        if opened.location != .memory { remember(in: file) }
        let result = SignInResult(credentials, requested: target.scope, profile: common.profile, replacing: former)
        for message in result.messages { console.say(message) }
        if common.json { try console.result(result) } else { try console.result(result.line) }
    }

    /// Returns the origins of --api.
    private func apiOrigins() throws(Failure) -> Set<APIOrigin> {
        try Failure.usage { Set(try api.map { try APIOrigin($0) }) }
    }

    private func signIn(
        at target: SignInOptions.Target, as client: ClientIdentification, former: Credentials?
    ) async throws -> Credentials {
        let browser = browser ?? .open
        let isPasted = browser == .paste || (browser == .open && redirectURI == nil && SystemBrowser().isOutOfReach)
        // Standard input cannot supply both the pasted response and the secret. `validate()` cannot check this, because
        // over SSH the response is pasted even without --browser paste.
        if isPasted, asked.clientSecretFromStandardInput { throw Failure(.usage, Self.oneInput) }
        var signIn =
            if let vendor = target.vendor { NativeSignIn(at: vendor, client: client, scope: target.scope) } else {
                NativeSignIn(issuer: target.issuer, client: client, scope: target.scope)
            }
        if let redirectURI {
            signIn.redirect = try Failure.usage { try .registered(redirectURI) }
        }
        signIn.options.loginHint = loginHint
        signIn.options.deviceName = deviceName
        if !prompt.isEmpty { signIn.options.prompt = Set(prompt) }
        signIn.options.apiOrigins = try apiOrigins()
        try asked.apply(to: &signIn.options, at: target, onDevice: false)
        signIn.par = asked.par?.option ?? .automatic
        signIn.checksClient = true
        signIn.options.hasRefreshToken =
            former?.refreshToken != nil && former?.user != nil && former?.issuer == target.issuer
            && former?.clientID == client.registered[target.issuer]
        let timeout = timeout ?? SignInProgress.browserTimeout
        signIn.timeout = .seconds(timeout)
        signIn.skippingPKCEMetadataCheck = asked.assumesPKCE
        let alternatives = SignInProgress.SignInAlternatives(
            canPaste: redirectURI.map { (try? LoopbackRedirectURI($0)) != nil } ?? true,
            device: redirectURI == nil ? "--device" : "--device in place of --redirect-uri")
        let progress = SignInProgress(
            console: common.console, timeout: timeout, issuer: target.issuer, alternatives: alternatives)
        if browser != .open || isPasted { signIn.browser = NoBrowser() }
        guard isPasted else { return try await signIn.run { progress.tell($0) } }

        let pasted = PastedLines()
        defer { pasted.stop() }
        let uri = try pastedRedirectURI(at: target)
        signIn.redirect = .receiver { () throws(SignInError) in
            try PasteReceiver(at: uri, lines: { await Self.line(of: pasted) }, onRefusal: { progress.refuse($0) })
        }
        return try await signIn.run { progress.tell($0, isPasted: true) }
    }

    /// Reads the next pasted line.
    ///
    /// While echo is off, the terminal reports Control-C as the end of input. This function then sends SIGINT to its
    /// own process, which cancels the sign-in.
    private static func line(of pasted: PastedLines) async -> String? {
        if let line = await pasted.next() { return line }
        guard !Task.isCancelled, isatty(STDIN_FILENO) == 1 else { return nil }
        kill(getpid(), SIGINT)
        // Wait until the signal cancels this task.
        try? await Task.sleep(for: .seconds(60))
        return nil
    }

    private func pastedRedirectURI(at target: SignInOptions.Target) throws(Failure) -> LoopbackRedirectURI {
        let registered = target.vendor?.profile.redirect
        guard let text = redirectURI ?? registered?.loopback else { return .standard }
        do {
            let uri = try LoopbackRedirectURI(text)
            guard redirectURI == nil, let vendor = target.vendor, vendor.isVendorsOwn else { return uri }
            return uri.tryingPorts(vendor.profile.redirect.ports)
        } catch {
            throw Failure(.usage, "a response can be pasted only for a loopback redirect URI; \(error)")
        }
    }

    private func signInOnDevice(
        at target: SignInOptions.Target, as client: ClientIdentification
    ) async throws -> Credentials {
        var signIn = DeviceSignIn(issuer: target.issuer, client: client, scope: target.scope)
        signIn.vendor = target.vendor
        signIn.options.deviceName = deviceName
        signIn.options.apiOrigins = try apiOrigins()
        try asked.apply(to: &signIn.options, at: target, onDevice: true)
        signIn.timeout = timeout.map { .seconds($0) }
        let progress = SignInProgress(console: common.console, issuer: target.issuer)
        let instructions = DeviceInstructions(console: common.console, options: deviceOutput, timeout: timeout)
        return try await signIn.run(onEvent: { progress.tell($0) }, show: { await instructions.tell($0) })
    }

    private func signInService(at target: SignInOptions.Target) async throws -> Credentials {
        var service = try asked.service(at: target)
        service.onMembersIgnored = { [console = common.console] names in
            console.say(IgnoredMembers(names: names).clause.capitalizedSentence)
        }
        service.apiOrigins = try apiOrigins()
        return try await service.run()
    }
}

extension VendorServer {
    /// Returns the profile, unless the host is not the vendor's or its server publishes metadata that count instead.
    fileprivate func profileOfVendorsServer() async -> ServerProfile? {
        guard isVendorsOwn else { return nil }
        do { return try await configuration().vendor?.profile } catch { return profile }
    }
}
