import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The check of an API, such as an MCP server, that a client knows only by its URL (RFC 6750 §3, RFC 9728 §5).
extension Examination {
    /// Checks the API; returns the first authorization server that the metadata of the API name, if any.
    ///
    /// If no scope was given, the later steps request the one that the API names.
    mutating func resource(_ address: String) async -> Issuer? {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address) } catch {
            fault("api-unusable", "the API cannot be used: \(error)", mend: "pass its https URL", status: .usage)
            return nil
        }
        guard let response = await responseWithoutToken(of: endpoint) else { return nil }
        var named: String?
        switch response.statusCode {
        case 300..<400:
            fault(
                "api-redirects", "the API responds with a redirect, along which no token is sent",
                mend: "pass the URL to which it redirects")
            return nil
        case 401: named = challenge(of: response)
        case 200..<300:
            advise(
                "api-open", "the API responds without a token",
                why:
                    "a client asks for a sign-in only after the status 401; some MCP servers send it only for later calls"
            )
        case 429, 500..<600:
            fault(
                "busy", "the API failed or is overloaded (status \(response.statusCode))", mend: "try again later",
                status: .unavailable)
            return nil
        default:
            advise(
                "api-status", "the API responds to a request without a token with the status \(response.statusCode)",
                why: "MCP clients begin a sign-in only after the status 401",
                mend: "respond with 401 and a WWW-Authenticate field (RFC 6750 §3)")
        }
        let found = await metadata(of: address)
        await resourceDocuments(of: endpoint, named: named, isFound: found != nil)
        await scripts(atAPI: endpoint)
        if subject.scope.isEmpty, let scope = found?.scope { subject.scope = scope }
        return found?.authorizationServers.first
    }

    /// Records the sign-in that `counterfoil call` needs for the API.
    ///
    /// A token that is requested without `resource` (RFC 8707 §2) is for the APIs that the server chooses, and an API
    /// must reject a token for others (RFC 9068 §4).
    mutating func tokenForAPI(at server: AuthorizationServerConfiguration) {
        guard let resource = subject.resource, let client = subject.clientID, !has("api-open") else { return }
        var settings = LoginSettings()
        settings.issuer = server.issuer.rawValue
        settings.clientID = client.rawValue
        settings.redirectURI = subject.redirectURI
        settings.scope = subject.scope.isEmpty ? nil : [subject.scope.description]
        settings.resource = [resource]
        settings.dpop = has("dpop-required")
        advise(
            "api-sign-in", "the API accepts only tokens that are issued for it",
            why: "without --resource, the server chooses the APIs of a token, and a wrong choice is the status 401",
            mend: "sign in with: \(LoginCommand(settings, profile: .standard))")
    }

    /// Requests the API without a token: with GET, or as an MCP client begins if the API has no GET.
    private mutating func responseWithoutToken(of endpoint: EndpointURL) async -> TransportResponse? {
        var fields: HTTPFields = [.accept: "application/json, text/event-stream"]
        // The body of an API without protection may be long or without end.
        guard let head = await ask(endpoint, headerFields: fields, readsBody: false, as: "API") else { return nil }
        switch head.statusCode {
        case 401, 403: return await ask(endpoint, headerFields: fields, as: "API")
        case 400, 405, 406, 415: break
        default: return head
        }
        // Model Context Protocol, Streamable HTTP: a server may have no GET, and the first message is `initialize`.
        fields[.contentType] = "application/json"
        let message =
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#
            + #""clientInfo":{"name":"counterfoil doctor","version":"1"}}}"#
        let response = await ask(
            endpoint, method: .post, headerFields: fields, body: Array(message.utf8), readsBody: false, as: "API")
        guard let response, response.statusCode < 500, response.statusCode != 429 else { return head }
        return response
    }

    private mutating func metadata(of address: String) async -> ResourceDiscovery.ProtectedResource? {
        do throws(SignInError) {
            let found = try await ResourceDiscovery(transport: transport).metadata(of: address)
            let server = found.authorizationServers.first
            sound("resource", "the API names the server for its tokens: \(server.map { "\($0)" } ?? "none")")
            if let named = server, let given = subject.issuer, !found.authorizationServers.contains(given) {
                fault(
                    "resource-other-server", "the API accepts tokens of \(named), and not of \(given)",
                    mend: "sign in at the server that the API names")
            }
            return found
        } catch {
            switch error {
            case .unsafe(.resource(let refusal)): resource(refusal)
            case .unusable: metadataMissing()
            default:
                fault(
                    "resource-metadata-unreadable", "\(error)", mend: "check the log of the API",
                    status: Failure(error).status)
            }
            return nil
        }
    }

    private mutating func metadataMissing() {
        let text = "the API does not name its authorization server"
        let mend = "publish its metadata (RFC 9728 §3), and their URL in the challenge"
        guard subject.issuer == nil else { return advise("resource-metadata-missing", text, mend: mend) }
        fault("resource-metadata-missing", text, why: "a client that knows only the API cannot sign in", mend: mend)
    }

    private mutating func resource(_ refusal: ResourceDiscovery.Refusal) {
        switch refusal {
        case .otherResource:
            fault(
                "resource-mismatch", "\(refusal)",
                why: "VS Code, Gemini CLI and this client compare exactly; the MCP SDKs accept a parent path, too",
                mend: "set resource to exactly the URL that is called (RFC 9728 §3.3)")
        case .badURL, .foreignLoopback:
            fault(
                "resource-metadata-address", "\(refusal)",
                mend: "publish an absolute https URL that can be reached from other hosts (RFC 9728 §5.1)")
        case .unreadable, .noServer:
            fault(
                "resource-metadata-unreadable", "\(refusal)",
                why: "without authorization_servers, no client finds the server",
                mend: "serve JSON as in RFC 9728 §2, without authentication")
        }
    }
}
