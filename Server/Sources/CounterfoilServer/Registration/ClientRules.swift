package import CounterfoilProtocol
package import CounterfoilStore
package import CounterfoilTokens
import Foundation

/// A client's registration that has passed all checks; only ``ClientRules`` can create one.
package struct CheckedClient: Sendable, Hashable {
    /// The name, texts and links of the client, without its logo.
    package let presentation: ClientPresentation
    package let redirectURIs: [RedirectURI]
    /// The scopes that the client may request.
    package let scope: Scope
    /// The scopes in `scope` that a user may decline.
    package let optionalScope: Scope
    /// The users who can sign in while the client is in development.
    package let testers: [Username]
    /// The web origins of a single-page app, from which its scripts may read responses of this server.
    package let origins: [RegisteredOrigin]
    /// The apps of a native client on Apple's platforms.
    package let appleApps: [AppleApp]
    /// The Android apps of a native client.
    package let androidApps: [AndroidApp]
    /// The public keys with which the client authenticates; nil if it has none, so that it uses secrets or is public.
    package let keys: JSONWebKeySet?
    /// The URIs to which the server may redirect after sign-out, `post_logout_redirect_uris`.
    package let postLogoutRedirectURIs: [RedirectURI]
    /// The URL to which the server sends logout tokens, `backchannel_logout_uri`; nil if the client wants none.
    package let backchannelLogoutURI: AbsoluteURI?
    /// The settings of the policy that the developer has chosen.
    package let choices: DeveloperChoices

    fileprivate init(
        presentation: ClientPresentation, redirectURIs: [RedirectURI], scope: Scope, optionalScope: Scope,
        testers: [Username], origins: [RegisteredOrigin], appleApps: [AppleApp], androidApps: [AndroidApp],
        postLogoutRedirectURIs: [RedirectURI], backchannelLogoutURI: AbsoluteURI?, keys: JSONWebKeySet?,
        choices: DeveloperChoices
    ) {
        self.presentation = presentation
        self.redirectURIs = redirectURIs
        self.scope = scope
        self.optionalScope = optionalScope
        self.testers = testers
        self.origins = origins
        self.appleApps = appleApps
        self.androidApps = androidApps
        self.keys = keys
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.backchannelLogoutURI = backchannelLogoutURI
        self.choices = choices
    }
}

/// The rules of client registration, which the console and the command line share.
package struct ClientRules: Sendable {
    /// The issuer of the server; nil before the first start of the server, when the issuer is not configured yet.
    package let issuer: Issuer?
    /// The second origin of the server, for callback URLs; nil if it has none.
    package let callbackOrigin: CallbackOrigin?
    /// The private-use schemes that are allowed although they contain no period (RFC 8252 §8.4), in lower case.
    package let plainSchemes: Set<String>
    /// Whether web and single-page clients may have development redirect URIs.
    package let allowsDevelopment: Bool
    private let formats: ContentFormats

    /// Creates the rules for the command line, which may run before the first start of the server.
    package init(
        issuer: Issuer?, callbackOrigin: CallbackOrigin? = nil,
        plainSchemes: Set<String> = [], allowsDevelopment: Bool, formats: ContentFormats
    ) {
        self.issuer = issuer
        self.callbackOrigin = callbackOrigin
        self.plainSchemes = plainSchemes
        self.allowsDevelopment = allowsDevelopment
        self.formats = formats
    }

    /// Creates the rules of a running server.
    package init(_ settings: ServerSettings, formats: ContentFormats) {
        self.init(
            issuer: settings.issuer, callbackOrigin: settings.callbackOrigin, plainSchemes: settings.plainSchemes,
            allowsDevelopment: settings.allowsDevelopmentRedirectURIs, formats: formats)
    }

    /// Checks a draft, and throws the problems of all fields if it is not valid.
    ///
    /// - Parameters:
    ///   - draft: The registration as entered.
    ///   - type: The type of the client.
    ///   - id: The identifier of the client; nil if the client is not registered yet.
    ///   - isFirstParty: Whether the client is first-party, so that it cannot have development redirect URIs.
    ///   - schemesInUse: The private-use schemes of the owner's other clients, in lower case.
    package func check(
        _ draft: ClientDraft,
        type: ClientType,
        id: ClientIdentifier?,
        isFirstParty: Bool,
        schemesInUse: Set<String> = []
    ) throws(ClientRegistrationRefusal) -> CheckedClient {
        var problems: [ClientProblem] = []
        let presentation = presentation(draft, type, &problems)
        let context = context(draft, type: type, id: id, isFirstParty: isFirstParty, schemesInUse: schemesInUse)
        let redirectURIs = redirectURIs(draft, type: type, context: context, &problems)
        let logout = logout(draft, type: type, context: context, &problems)
        let scopes = scopes(draft, &problems)
        let testers = testers(draft, &problems)
        let origins = origins(draft, type: type, redirectURIs: redirectURIs, &problems)
        let apps = apps(draft, type: type, &problems)
        let keys = keys(draft, type: type, &problems)
        let choices = DeveloperChoices(draft, type: type, &problems)
        guard problems.isEmpty else { throw ClientRegistrationRefusal(problems) }
        return CheckedClient(
            presentation: presentation,
            redirectURIs: redirectURIs,
            scope: scopes.all,
            optionalScope: scopes.optional,
            testers: testers,
            origins: origins,
            appleApps: apps.apple,
            androidApps: apps.android,
            postLogoutRedirectURIs: logout.redirectURIs,
            backchannelLogoutURI: logout.backchannel,
            keys: keys,
            choices: choices
        )
    }

    /// Returns the context in which the redirect URIs of a draft are checked; the parameters are those of `check`.
    package func context(
        _ draft: ClientDraft, type: ClientType, id: ClientIdentifier?, isFirstParty: Bool,
        schemesInUse: Set<String> = []
    ) -> RedirectURIContext {
        RedirectURIContext(
            type: type,
            clientID: id,
            issuer: issuer,
            callbackOrigin: callbackOrigin,
            plainSchemes: plainSchemes,
            acceptedURIs: draft.acceptedRedirectURIs,
            allowsDevelopment: allowsDevelopment,
            isFirstParty: isFirstParty,
            appNames: Set(
                draft.appleApps.compactMap { AppleApp($0)?.bundleID }
                    + draft.androidApps.compactMap { AndroidApp($0)?.packageName }),
            schemesInUse: schemesInUse
        )
    }

    private func presentation(
        _ draft: ClientDraft, _ type: ClientType, _ problems: inout [ClientProblem]
    ) -> ClientPresentation {
        let (name, publisher) = Self.names(draft, type, &problems)
        let text = draft.consentText.replacing("\r\n", with: "\n")
        if !text.isEmpty {
            do { _ = try ConsentText(markdown: text, formats: formats) } catch {
                problems.append(ClientProblem(.consentText, error))
            }
        }
        return ClientPresentation(
            name: name,
            publisher: publisher.isEmpty ? nil : publisher,
            consentText: text.isEmpty ? nil : text,
            privacyURI: address(draft.privacyURI, .privacyURI, &problems),
            termsURI: address(draft.termsURI, .termsURI, &problems)
        )
    }

    /// Parses the URL of a page for users, such as `policy_uri` (RFC 7591 §2); only https is accepted.
    private func address(
        _ text: String, _ field: ClientField, _ problems: inout [ClientProblem]
    ) -> AbsoluteURI? {
        let text = Self.trimmed(text)
        guard !text.isEmpty else { return nil }
        guard let uri = try? AbsoluteURI(parsing: text), uri.scheme.lowercased() == "https",
            uri.host.map({ !$0.isEmpty }) ?? false, uri.userInformation == nil, text.utf8.count <= 2048
        else {
            problems.append(ClientProblem(field, .notAPageURL))
            return nil
        }
        return uri
    }

    private func redirectURIs(
        _ draft: ClientDraft, type: ClientType, context: RedirectURIContext,
        _ problems: inout [ClientProblem]
    ) -> [RedirectURI] {
        let written = draft.redirectURIs.map(Self.trimmed).filter { !$0.isEmpty }
        switch type {
        case .native, .singlePage, .web:
            if written.isEmpty { problems.append(ClientProblem(.redirectURIs, .redirectURIMissing)) }
        case .device, .service:
            if !written.isEmpty { problems.append(ClientProblem(.redirectURIs, .redirectURINotUsed)) }
            return []
        }
        return accepted(written, .redirectURIs, context: context, &problems)
    }

    /// Checks the back-channel logout URI and the post-logout redirect URIs.
    ///
    /// The rules for post-logout redirect URIs are those for redirect URIs.
    private func logout(
        _ draft: ClientDraft, type: ClientType, context: RedirectURIContext,
        _ problems: inout [ClientProblem]
    ) -> (redirectURIs: [RedirectURI], backchannel: AbsoluteURI?) {
        let written = draft.postLogoutRedirectURIs.map(Self.trimmed).filter { !$0.isEmpty }
        let backchannel = Self.trimmed(draft.backchannelLogoutURI)
        guard type.hasRedirectURIs else {
            if !written.isEmpty { problems.append(ClientProblem(.postLogoutRedirectURIs, .postLogoutNotUsed)) }
            if !backchannel.isEmpty { problems.append(ClientProblem(.backchannelLogoutURI, .backchannelNotUsed)) }
            return ([], nil)
        }
        let redirectURIs = accepted(written, .postLogoutRedirectURIs, context: context, &problems)
        guard !backchannel.isEmpty else { return (redirectURIs, nil) }
        // OpenID Connect Back-Channel Logout §2.2. The server checks the IP addresses when it sends a logout token.
        guard let uri = try? AbsoluteURI(parsing: backchannel), RedirectURIRegistration.isBackchannelLogoutURI(uri),
            !uri.hasDotSegments
        else {
            problems.append(ClientProblem(.backchannelLogoutURI, .notABackchannelURI))
            return (redirectURIs, nil)
        }
        return (redirectURIs, uri)
    }

    private func accepted(
        _ written: [String], _ field: ClientField, context: RedirectURIContext,
        _ problems: inout [ClientProblem]
    ) -> [RedirectURI] {
        if written.count > RedirectURIRegistration.limit {
            problems.append(
                ClientProblem(field, .tooManyRedirectURIs, ["limit": .number(RedirectURIRegistration.limit)]))
            return []
        }
        var accepted: [RedirectURI] = []
        for text in written {
            switch RedirectURIRegistration.verdict(on: text, for: context) {
            case .accepted(let uri, _):
                if accepted.contains(uri) {
                    problems.append(ClientProblem(field, .redirectURITwice, ["uri": .text(text)]))
                }
                accepted.append(uri)
            case .refused(let refusal):
                problems.append(
                    ClientProblem(
                        field,
                        .redirectURIRefused,
                        ["uri": .text(String(text.prefix(200))), "why": .nested(refusal.text)]))
            }
        }
        return accepted
    }

    private func scopes(
        _ draft: ClientDraft, _ problems: inout [ClientProblem]
    ) -> (all: Scope, optional: Scope) {
        func tokens(_ names: [String], _ field: ClientField) -> [Scope.Token] {
            names.compactMap { name in
                let token = Scope.Token(name)
                if token == nil {
                    problems.append(ClientProblem(field, .notAScope, ["name": .text(String(name.prefix(100)))]))
                }
                return token
            }
        }
        let all = Scope(tokens(draft.scopes, .scopes))
        if all.tokens.count > Scope.tokenLimit || all.description.utf8.count > Scope.byteLimit {
            problems.append(ClientProblem(.scopes, .tooManyScopes, ["limit": .number(Scope.tokenLimit)]))
        }
        let optional = Scope(tokens(draft.optionalScopes, .optionalScopes))
        let excess = optional.tokens.filter { !all.contains($0) }
        if let first = excess.first {
            problems.append(ClientProblem(.optionalScopes, .optionalNotAssigned, ["name": .text(first.rawValue)]))
        }
        // OpenID Connect Core §3.1.2.1: without openid, a request is not an OpenID Connect request. A user who
        // declined it could not sign in.
        if optional.contains(.openID) { problems.append(ClientProblem(.optionalScopes, .openIDNotOptional)) }
        return (all, optional)
    }

    private func testers(_ draft: ClientDraft, _ problems: inout [ClientProblem]) -> [Username] {
        let written = draft.testers.map(Self.trimmed).filter { !$0.isEmpty }
        let limit = RegisteredClient.testerLimit
        if written.count > limit {
            problems.append(ClientProblem(.testers, .tooManyTesters, ["limit": .number(limit)]))
        }
        var testers: [Username] = []
        for text in written.prefix(limit) {
            guard let name = Username(text) else {
                problems.append(ClientProblem(.testers, .notAUsername, ["name": .text(String(text.prefix(100)))]))
                continue
            }
            if !testers.contains(name) { testers.append(name) }
        }
        return testers
    }

    private func origins(
        _ draft: ClientDraft, type: ClientType, redirectURIs: [RedirectURI],
        _ problems: inout [ClientProblem]
    ) -> [RegisteredOrigin] {
        let written = draft.origins.map(Self.trimmed).filter { !$0.isEmpty }
        guard type == .singlePage else {
            if !written.isEmpty { problems.append(ClientProblem(.origins, .originsNotUsed)) }
            return []
        }
        guard !written.isEmpty else { return [RegisteredOrigin](of: redirectURIs) }
        if written.count > 20 { problems.append(ClientProblem(.origins, .tooManyOrigins, ["limit": .number(20)])) }
        var origins: [RegisteredOrigin] = []
        for text in written.prefix(20) {
            guard let origin = RegisteredOrigin(text) else {
                problems.append(ClientProblem(.origins, .notAnOrigin, ["origin": .text(String(text.prefix(200)))]))
                continue
            }
            if !origins.contains(origin) { origins.append(origin) }
        }
        return origins
    }

    private func apps(
        _ draft: ClientDraft, type: ClientType, _ problems: inout [ClientProblem]
    ) -> (apple: [AppleApp], android: [AndroidApp]) {
        let apple = draft.appleApps.map(Self.trimmed).filter { !$0.isEmpty }
        let android = draft.androidApps.map(Self.trimmed).filter { !$0.isEmpty }
        guard type == .native else {
            if !apple.isEmpty { problems.append(ClientProblem(.appleApps, .appsNotUsed)) }
            if !android.isEmpty { problems.append(ClientProblem(.androidApps, .appsNotUsed)) }
            return ([], [])
        }
        func values<App>(
            _ written: [String], _ field: ClientField, _ reason: ClientProblem.Reason,
            _ make: (String) -> App?
        ) -> [App] {
            if written.count > 20 {
                problems.append(ClientProblem(field, .tooManyApps, ["limit": .number(20)]))
            }
            return written.prefix(20).compactMap { text in
                let app = make(text)
                if app == nil {
                    problems.append(ClientProblem(field, reason, ["app": .text(String(text.prefix(200)))]))
                }
                return app
            }
        }
        return (
            values(apple, .appleApps, .notAnAppleApp, AppleApp.init),
            values(android, .androidApps, .notAnAndroidApp, AndroidApp.init)
        )
    }

    /// Checks the keys, which only a confidential client has (OpenID Connect Core §9).
    private func keys(
        _ draft: ClientDraft, type: ClientType, _ problems: inout [ClientProblem]
    ) -> JSONWebKeySet? {
        let text = Self.trimmed(draft.keys)
        guard !text.isEmpty else { return nil }
        guard type.isConfidential else {
            problems.append(ClientProblem(.keys, .keysNotUsed))
            return nil
        }
        do {
            return try ClientKeys.read(text)
        } catch {
            problems.append(
                ClientProblem(.keys, error, ["limit": .number(ClientKeys.limit)]))
            return nil
        }
    }

    static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
