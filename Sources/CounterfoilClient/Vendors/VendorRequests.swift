import CounterfoilProtocol

extension ServerBehavior {
    /// The parameters of an authorization request as this server wants them.
    func authorizationForm(of request: AuthorizationRequest, hasRefreshToken: Bool) -> FormParameters {
        var form = FormParameters(
            request.parameters.pairs.map { pair in
                guard pair.name == "scope" else { return pair }
                return FormParameters.Pair(
                    name: scopeParameter, value: pair.value.replacing(" ", with: scopeSeparator))
            })
        var others = authorizationParameters
        if !hasRefreshToken { others.merge(parametersForRefreshToken) { $1 } }
        // What the application asks for itself comes before what the vendor wants by default.
        for (name, value) in others.sorted(by: { $0.key < $1.key }) where form.all(name).isEmpty {
            form.append(name, value)
        }
        return form
    }
}

extension ServerBehavior.CallbackServer {
    /// The origin that a callback names; nil when it names none.
    func origin(in callback: AuthorizationCallback) -> String? {
        (try? callback.parameters.single(parameter)).flatMap { $0 }
    }

    /// What a refresh must know of a callback, to go to the same server.
    func details(of callback: AuthorizationCallback) -> [String: String] {
        origin(in: callback).map { [parameter: $0] } ?? [:]
    }

    /// Whether a callback names no server, or one of the list, once.
    func isKnown(in callback: AuthorizationCallback) -> Bool {
        let named = callback.parameters.all(parameter)
        return named.isEmpty || (named.count == 1 && origins.contains(named[0]))
    }
}

extension AuthorizationServerConfiguration {
    /// The server that exchanges the code of a callback: this one, or the one of the vendor's list that it names.
    func serving(_ callback: AuthorizationCallback) -> AuthorizationServerConfiguration {
        guard let origin = behavior.callbackServer?.origin(in: callback) else { return self }
        return relocated(to: origin)
    }

    /// Which of the vendor's servers this is, as a refresh must know it; empty where the profile lists none.
    var place: [String: String] {
        guard let servers = behavior.callbackServer, servers.origins.contains(tokenEndpoint.origin) else { return [:] }
        return [servers.parameter: tokenEndpoint.origin]
    }

    /// The same server at another of the vendor's origins; one that is not on the list changes nothing.
    func relocated(to origin: String?) -> AuthorizationServerConfiguration {
        guard let origin, behavior.callbackServer?.origins.contains(origin) == true else { return self }
        var moved = self
        moved.tokenEndpoint = tokenEndpoint.at(origin: origin) ?? tokenEndpoint
        moved.keysEndpoint = keysEndpoint?.at(origin: origin)
        moved.revocationEndpoint = revocationEndpoint?.at(origin: origin)
        moved.userInfoEndpoint = userInfoEndpoint?.at(origin: origin)
        return moved
    }
}

extension EndpointURL {
    /// The same path at another origin.
    fileprivate func at(origin: String) -> EndpointURL? {
        try? EndpointURL(origin + rawValue.dropFirst(self.origin.count))
    }
}
