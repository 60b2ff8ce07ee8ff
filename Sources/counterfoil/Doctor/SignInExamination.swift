import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The check of a complete sign-in, whose tokens are not stored.
extension Examination {
    /// Signs the user in, checks every response, and revokes the tokens at the end.
    ///
    /// If `binding` is true, the tokens are bound to a key.
    mutating func signIn(
        at server: AuthorizationServerConfiguration, redirect: RedirectOption?,
        binding: Bool, browser: any BrowserLauncher,
        onEvent report: @escaping @Sendable (NativeSignIn.Event) -> Void
    ) async {
        guard let client = subject.clientID else { return }
        let recorder = ResponseRecorder(
            recording: server.tokenEndpoint.rawValue, over: transport, timeout: timeout)
        var signIn =
            if let vendor = subject.vendor {
                NativeSignIn(at: vendor, clientID: client, scope: subject.scope)
            } else {
                NativeSignIn(issuer: server.issuer, clientID: client, scope: subject.scope)
            }
        if let redirect { signIn.redirect = redirect }
        signIn.options.bindsTokens = binding
        signIn.options.authentication = subject.authentication
        signIn.options.resources = [subject.resource].compactMap { $0 }.compactMap { try? Resource($0) }
        signIn.skippingPKCEMetadataCheck = true
        signIn.transport = recorder
        signIn.browser = browser
        guard let credentials = await run(signIn, recorder, report) else { return }
        await user(of: credentials)
        if let resource = subject.resource { await call(resource, with: credentials, at: server) }
        let latest = await refresh(credentials, at: server, recorder)
        _ = try? await TokenRevocation(transport: transport).revoke(latest)
    }

    private mutating func run(
        _ signIn: NativeSignIn, _ recorder: ResponseRecorder,
        _ report: @escaping @Sendable (NativeSignIn.Event) -> Void
    ) async -> Credentials? {
        do throws(SignInError) {
            let credentials = try await signIn.run(onEvent: report)
            sound("sign-in", "a sign-in works from end to end")
            if let response = recorder.last { tokens(in: response, asked: subject.scope) }
            return credentials
        } catch {
            if let response = recorder.last { tokens(in: response, asked: subject.scope) }
            explain(error, bound: signIn.options.bindsTokens)
            return nil
        }
    }

    private mutating func explain(_ error: SignInError, bound: Bool) {
        switch error {
        case .unsafe(.tokenResponse(.notBound)):
            fault(
                "dpop-ignored", "\(error)",
                mend: "bind tokens to keys, or remove DPoP from the metadata (RFC 9449 §5)")
        case .refused(let refusal) where bound && refusal.code.rawValue.contains("dpop"):
            fault(
                "dpop-refused", "\(error)", mend: "check why the server rejects the proof (RFC 9449 §4.3)",
                status: .refused)
        case .unsafe(.idToken), .unsafe(.idTokenAlgorithm), .unsafe(.keys), .unsafe(.tokenResponse(.noIDToken)),
            .unsafe(.tokenResponse(.noKeys)):
            fault(
                "id-token", "\(error)",
                mend: "issue ID tokens as in OpenID Connect Core §3.1.3.7; a client must reject this one")
        case .unsafe(.callback), .unsafe(.tokenResponse), .unsafe:
            fault("sign-in-unsafe", "a sign-in failed: \(error)", mend: "check the findings above")
        case .timedOut:
            fault(
                "sign-in-timed-out", "a sign-in failed: \(error)",
                mend: "check the page in the browser; the client and its redirect URI must be registered",
                status: .timedOut)
        default:
            fault(
                "sign-in-fails", "a sign-in failed: \(error)",
                mend: "check the findings above and the log of the server",
                status: Failure(error).status)
        }
    }

    private mutating func user(of credentials: Credentials) async {
        guard credentials.user != nil else { return }
        do throws(SignInError) {
            guard try await UserInfoRequest(transport: transport).claims(of: credentials) != nil else { return }
            sound("user-info", "the UserInfo response matches the ID token")
        } catch {
            fault(
                "user-info", "the UserInfo response cannot be used: \(error)",
                mend: "respond with JSON that has the sub of the ID token (OpenID Connect Core §5.3.2)",
                status: Failure(error).status)
        }
    }

    private mutating func call(
        _ address: String, with credentials: Credentials, at server: AuthorizationServerConfiguration
    ) async {
        guard let response = try? await ResourceClient(credentials, transport: transport).get(address) else { return }
        let challenge = response.head.headerFields[values: .wwwAuthenticate].joined(separator: ", ")
        switch response.statusCode {
        case 200..<300: sound("api", "the API accepts the token")
        case 401 where challenge.contains("insufficient_user_authentication"):
            let demand = StepUp(demandedBy: response)
            advise(
                "api-wants-sign-in",
                "the API requires \(demand.map { "\($0)" } ?? "a stronger or more recent sign-in"), as RFC 9470 defines",
                mend: "sign in again in the way that the API requires")
            guard let demand, !has("acr-not-listed") else { break }
            apiContexts = demand.authenticationContexts
            contexts(at: server)
        case 403 where challenge.contains("insufficient_scope"):
            advise(
                "api-wants-scope", "the API requires more permissions than the token has",
                mend: "request them with --scope")
        case 401:
            fault(
                "api-refuses-token",
                "the API rejects a new token (status 401)"
                    + (await differences(of: credentials, response, at: address)),
                mend:
                    "check whether a proxy removes the Authorization field, and which issuer and audience the API"
                    + " expects", status: .refused)
        default: advise("api-status", "the API responds with the status \(response.statusCode)")
        }
    }
    /// Returns what differs between a token and what the API accepts, as the end of a sentence.
    private func differences(
        of credentials: Credentials, _ response: TransportResponse, at address: String
    ) async -> String {
        guard let url = try? EndpointURL(address) else { return "" }
        let command = LoginCommand(repeating: credentials, profile: .standard, rememberedIn: nil)
        let rejection = await TokenRejection(
            of: credentials, by: response.head, at: url, command: command, transport: transport)
        guard rejection.differences.isEmpty else { return ": " + rejection.differences.joined(separator: "; ") }
        return rejection.possibleDifference.map { ": \($0)" } ?? ""
    }
}
