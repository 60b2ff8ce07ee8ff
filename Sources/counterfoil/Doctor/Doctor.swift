import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil doctor` reports the faults of a server, a client registration or an API, and how to fix them.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check a server, a registration and an API, and say how to fix their faults.",
        discussion: """
            Without --client-id, it checks the metadata, clock, keys and error responses of the server. With --client-id, \
            it also sends authorization requests that show no page, and discards the codes. With --sign-in, you sign in \
            once, and it checks the tokens without storing them. It registers no client; the report lists what it has not \
            tried.

            With --resource, it checks an API, such as an MCP server, and what clients need that know only its URL: the \
            challenge, the metadata, client IDs, and the access by scripts in a browser. The API names the issuer.

            Examples:
              counterfoil doctor https://id.example.com --client-id lightbox --sign-in
              counterfoil doctor --resource https://mcp.example.com/mcp

            The exit code is 0 if nothing prevents a sign-in, and otherwise that of the first fault.

            \(ExitStatus.help)
            """
    )

    @Argument(help: ArgumentHelp("The issuer URL of the server, exactly as in its metadata.", valueName: "issuer"))
    var issuer: String?

    @Option(help: ArgumentHelp("The registered client ID.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp(
            "The registered redirect URI. (default: \(LoopbackRedirectURI.standard))", valueName: "uri"))
    var redirectURI: String?

    @OptionGroup var clientAuthentication: ClientAuthenticationOptions

    @Option(help: ArgumentHelp("The scope to request. Can be repeated.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "The origin of a single-page client: check whether its scripts may use the server (CORS).",
            valueName: "origin"))
    var origin: String?

    @Option(help: ArgumentHelp("The URL of an API or MCP server to check.", valueName: "uri"))
    var resource: String?

    @Option(help: ArgumentHelp("The vendor of the server, if it differs from the standard.", valueName: "name"))
    var vendor: String?

    @Flag(name: .customLong("sign-in"), help: "Sign in once and check the tokens.")
    var signsIn = false

    @Flag(help: "With --sign-in, bind the tokens to a key of this device (DPoP).")
    var dpop = false

    @Option(help: "With --sign-in, open the browser, or only print the URL.")
    var browser: BrowserChoice = .open

    @Option(help: ArgumentHelp("The time to wait for each response of a server.", valueName: "seconds"))
    var timeout = 10

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...600).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 600.")
        }
        guard issuer != nil || resource != nil || vendor != nil else {
            throw ValidationError("Name the server, such as https://id.example.com, or the API with --resource.")
        }
        guard clientID != nil || !signsIn else { throw ValidationError("--sign-in requires --client-id.") }
        guard clientID != nil || !(clientAuthentication.hasSecret || clientAuthentication.keyFile != nil) else {
            throw ValidationError("A client secret or key requires --client-id.")
        }
        if let origin, (try? EndpointURL(origin))?.origin != origin {
            throw ValidationError("--origin must be an origin such as https://app.example.com, without a path.")
        }
    }

    func run() async throws {
        let console = output.console
        try await console.run {
            let beginning = Examination(of: try subject(), over: .standard, timeout: .seconds(timeout))
            let findings = try await runUntilInterrupted {
                var examination = beginning
                await examination.run(signingIn: signsIn, binding: dpop, opening: browser == .open, console)
                return examination.findings
            }
            try FindingReport(findings: findings).write(to: console)
        }
    }

    private func subject() throws(Failure) -> Examination.Subject {
        let wanted = try Failure.usage { try Scope(lenient: scope.joined(separator: " ")) }
        var subject = Examination.Subject(redirectURI: redirectURI, resource: resource, scope: wanted)
        subject.origin = origin
        if let clientID {
            guard let client = ClientIdentifier(clientID) else {
                throw Failure(.usage, "the client ID is empty or contains invalid characters")
            }
            subject.clientID = client
        }
        if let vendor {
            guard let profile = ServerProfile.named(vendor) else {
                throw Failure(
                    .usage,
                    "--vendor must be one of \(ServerProfile.builtIn.map(\.name).joined(separator: ", "))")
            }
            subject.vendor = try Failure.usage { try VendorServer(profile, at: issuer.map(SignInOptions.host)) }
            subject.issuer = subject.vendor?.issuer
        } else if let issuer {
            subject.issuer = try Failure.usage("the issuer cannot be used: ") { try Issuer(ofServer: issuer) }
        }
        subject.authentication = try clientAuthentication.authentication(at: subject.vendor, requiresSecret: false)
        return subject
    }
}

extension Examination {
    /// Runs the steps of the examination, in the order of the steps of a sign-in.
    mutating func run(signingIn: Bool, binding: Bool, opening: Bool, _ console: CommandOutput) async {
        var issuer = subject.issuer
        if let address = subject.resource {
            let named = await resource(address)
            issuer = issuer ?? named
        }
        guard let issuer, let server = await server(issuer) else { return }
        await tokenEndpoint(of: server)
        await proofs(at: server)
        await keys(of: server)
        if subject.resource != nil { await clientsWithoutRegistration(at: server) }
        await authorization(at: server)
        tokenForAPI(at: server)
        contexts(at: server)
        await device(at: server)
        notTried(at: server, signingIn: signingIn, binding: signingIn && (binding || has("dpop-required")))
        guard signingIn else { return }
        if binding, !announcesDPoP(server) { return }
        let progress = SignInProgress(console: console)
        let redirect = subject.redirectURI.flatMap { try? RedirectOption.registered($0) }
        await signIn(
            at: server, redirect: redirect, binding: binding || has("dpop-required"),
            browser: opening ? SystemBrowser() : NoBrowser(), onEvent: { progress.tell($0) })
    }

    /// Records what the examination leaves out, so that a report without faults promises no more than it shows.
    private mutating func notTried(
        at server: AuthorizationServerConfiguration, signingIn: Bool, binding: Bool
    ) {
        var left: [String] = []
        if server.registrationEndpoint != nil { left.append("registration of a client") }
        if server.supportsMetadataDocuments { left.append("a client metadata document") }
        if subject.clientID == nil { left.append("authorization requests (--client-id)") }
        if !signingIn { left.append("a sign-in, its tokens and a refresh (--sign-in)") }
        if announcesES256Proofs(server), !binding {
            left.append("tokens that are bound to a key (--sign-in --dpop)")
        }
        if server.deviceAuthorizationEndpoint != nil, subject.clientID != nil {
            left.append("the approval of a device")
        }
        switch (subject.origin, subject.resource) {
        case (nil, nil): left.append("access by scripts in a browser (--origin)")
        case (nil, _): left.append("access by scripts of other origins (--origin)")
        default: break
        }
        if !left.isEmpty { advise("not-tried", "not tried: \(left.joined(separator: "; "))") }
    }

    /// Returns true if the server announces DPoP with ES256; records a fault if not (RFC 9449 §5.1).
    private mutating func announcesDPoP(_ server: AuthorizationServerConfiguration) -> Bool {
        if announcesES256Proofs(server) { return true }
        fault(
            "dpop-not-offered",
            "the metadata does not announce DPoP with ES256, so the tokens cannot be bound to a key",
            mend: "omit --dpop, or publish dpop_signing_alg_values_supported (RFC 9449 §5.1)")
        return false
    }

    private mutating func server(_ issuer: Issuer) async -> AuthorizationServerConfiguration? {
        guard let vendor = subject.vendor else { return await metadata(of: issuer) }
        let found: Result<AuthorizationServerConfiguration, SignInError>
        do throws(SignInError) { found = .success(try await vendor.configuration(transport: transport)) } catch {
            found = .failure(error)
        }
        if case .success(let server) = found, server.vendor == nil {
            moved(from: vendor.profile)
            return await metadata(of: issuer)
        }
        if vendor.isVendorsOwn {
            for sentence in vendor.profile.advice { advise("vendor", "\(vendor.profile.title): \(sentence)") }
        }
        if case .issuer = vendor.profile.location { _ = await metadata(of: issuer) }
        do throws(SignInError) { return try found.get() } catch {
            if !findings.contains(where: { $0.weight == .fault }) {
                fault(
                    "vendor-unusable", "\(error)", mend: "check the host of the server", status: Failure(error).status)
            }
            return nil
        }
    }

    /// Continues with a server of the standards, to which a client has moved with what it registered at a vendor.
    private mutating func moved(from profile: ServerProfile) {
        subject.vendor = nil
        subject.redirectURI = subject.redirectURI ?? profile.redirect.loopback
        if subject.scope.isEmpty, let scope = try? Scope(lenient: profile.defaultScope) { subject.scope = scope }
        advise(
            "not-the-vendors", "this is not a server of \(profile.title), so its metadata count, and not the profile")
    }
}
