import CounterfoilProtocol

extension ServerBehavior {
    /// Returns the parameters of an authorization request in the form that this server expects.
    ///
    /// `additional` are parameters of the app; the parameters of the profile do not replace them.
    func authorizationForm(
        of request: AuthorizationRequest, hasRefreshToken: Bool, additional: [String: String] = [:]
    ) -> FormParameters {
        var form = FormParameters(
            request.parameters.pairs.map { pair in
                guard pair.name == "scope" else { return pair }
                return FormParameters.Pair(
                    name: scopeParameter, value: pair.value.replacing(" ", with: scopeSeparator))
            })
        for (name, value) in additional.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        var others = authorizationParameters
        if !hasRefreshToken { others.merge(parametersForRefreshToken) { $1 } }
        // Parameters of the app take precedence over the parameters of the profile.
        for (name, value) in others.sorted(by: { $0.key < $1.key }) where form.all(name).isEmpty {
            form.append(name, value)
        }
        return form
    }
}

extension ServerBehavior.CallbackServer {
    /// Returns the origin in the parameter of a callback; nil if the parameter is missing or repeated.
    func origin(in callback: AuthorizationCallback) -> String? {
        (try? callback.parameters.single(parameter)).flatMap { $0 }
    }

    /// Returns the origin that a callback names, as an entry of `Credentials.details`; empty if it names none.
    ///
    /// A refresh reads this entry to send its request to the same server.
    func details(of callback: AuthorizationCallback) -> [String: String] {
        origin(in: callback).map { [parameter: $0] } ?? [:]
    }

    /// Returns true if a callback names no server, or names exactly one server and the profile lists it.
    func isKnown(in callback: AuthorizationCallback) -> Bool {
        let named = callback.parameters.all(parameter)
        return named.isEmpty || (named.count == 1 && origins.contains(named[0]))
    }
}

extension AuthorizationServerConfiguration {
    /// Returns the configuration of the server that redeems the code of a callback.
    ///
    /// If the callback names another server of the vendor, and the profile lists it, the result is the configuration of
    /// that server. If not, this configuration is returned.
    func serving(_ callback: AuthorizationCallback) -> AuthorizationServerConfiguration {
        guard let origin = behavior.callbackServer?.origin(in: callback) else { return self }
        return relocated(to: origin)
    }

    /// The origin of this server as an entry of `Credentials.details`; empty if the profile does not list the server.
    ///
    /// A refresh reads this entry to send its request to the same server.
    var place: [String: String] {
        guard let servers = behavior.callbackServer, servers.origins.contains(tokenEndpoint.origin) else { return [:] }
        return [servers.parameter: tokenEndpoint.origin]
    }

    /// Returns the configuration with its token, key set, revocation and UserInfo endpoints at another origin.
    ///
    /// If the vendor profile does not list the origin, the configuration is returned unchanged.
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
    /// Returns the URL with its origin replaced; nil if the result is not a valid endpoint URL.
    fileprivate func at(origin: String) -> EndpointURL? {
        try? EndpointURL(origin + rawValue.dropFirst(self.origin.count))
    }
}
