import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The check of the access by the scripts of MCP clients in a browser (Fetch §3.3).
extension Examination {
    /// The origin of MCP Inspector, which stands for all clients in a browser unless --origin names another one.
    private static let inspector = "http://localhost:6274"

    /// The field that MCP clients add to their requests, also to those for metadata.
    private static let version = "mcp-protocol-version"

    private var scriptOrigin: String { subject.origin ?? Self.inspector }

    /// The requests of a script to one URL.
    private struct ScriptAccess {
        let endpoint: EndpointURL
        /// The name of the endpoint in sentences.
        let what: String
        let topic: String
        /// The method of the preflight request, and the fields that it announces; nil if a browser sends none.
        var preflight: (method: HTTPRequest.Method, fields: [String])?
        /// The form of the request; nil for a GET request.
        var form: FormParameters?
        /// Whether scripts read `WWW-Authenticate`.
        var readsChallenge = false
    }

    /// Checks the access to the API and its metadata.
    mutating func scripts(atAPI endpoint: EndpointURL) async {
        await scripts(
            ScriptAccess(
                endpoint: endpoint, what: "the API", topic: "scripts-api",
                preflight: (.post, ["authorization", "content-type", Self.version]), readsChallenge: true))
        guard let place = ResourceDiscovery.wellKnownURLs(of: endpoint).first, has("resource-metadata-path"),
            let known = try? EndpointURL(place.url)
        else { return }
        await scripts(
            ScriptAccess(
                endpoint: known, what: "the metadata of the API", topic: "scripts-resource-metadata",
                preflight: (.get, [Self.version])))
    }

    /// Checks the access to the metadata and the token endpoint of the server.
    mutating func scripts(at server: AuthorizationServerConfiguration) async {
        if let metadataURL {
            await scripts(
                ScriptAccess(
                    endpoint: metadataURL, what: "the metadata of the server", topic: "scripts-metadata",
                    preflight: (.get, [Self.version])))
        }
        // With --origin, the check of the token endpoint has judged its response.
        guard subject.origin == nil else { return }
        var form = FormParameters(["grant_type": "authorization_code"])
        form.append("client_id", subject.clientID?.rawValue ?? "counterfoil-doctor")
        await scripts(
            ScriptAccess(
                endpoint: server.tokenEndpoint, what: "the token endpoint", topic: "scripts-token", form: form))
    }

    private mutating func scripts(_ access: ScriptAccess) async {
        var problems: [String] = []
        var isDenied = false
        if let preflight = access.preflight {
            var fields = originField
            fields[.accessControlRequestMethod] = preflight.method.rawValue
            fields[.accessControlRequestHeaders] = preflight.fields.joined(separator: ",")
            let response = await ask(
                access.endpoint, method: .options, headerFields: fields, readsBody: false, isRequired: false,
                as: access.what)
            guard let response else {
                return conclude(access, ["its preflight request gets no response"], isDenied: true)
            }
            let missing = Self.denied(preflight.fields, by: response)
            if !(200..<300).contains(response.statusCode) {
                problems.append("its preflight request has the status \(response.statusCode)")
                isDenied = true
            } else if !allowsOrigin(response) {
                problems.append("its preflight request does not allow the origin")
                isDenied = true
            } else if !missing.isEmpty {
                problems.append("its preflight request does not allow \(missing.joined(separator: ", "))")
                isDenied = missing != [Self.version]
            }
        }
        let response = await ask(
            access.endpoint, method: access.form == nil ? .get : .post, form: access.form, headerFields: originField,
            readsBody: false, isRequired: false, as: access.what)
        guard let response else {
            return conclude(access, problems + ["a request with the origin gets no response"], isDenied: true)
        }
        if !allowsOrigin(response) {
            problems.append("its response does not allow the origin")
            isDenied = true
        } else if access.readsChallenge, response.statusCode == 401, !Self.exposesChallenge(response) {
            problems.append("its response does not expose WWW-Authenticate")
        }
        conclude(access, problems, isDenied: isDenied)
    }

    private mutating func conclude(_ access: ScriptAccess, _ problems: [String], isDenied: Bool) {
        guard !problems.isEmpty else {
            return sound(access.topic, "scripts of \(scriptOrigin) can use \(access.what) (CORS)")
        }
        let text = "scripts of \(scriptOrigin) cannot use \(access.what) (CORS): \(problems.joined(separator: "; "))"
        let why = "MCP clients in a browser, such as MCP Inspector, stop here"
        let allowed = (access.preflight?.fields ?? []).joined(separator: ", ")
        let mend =
            "allow the origin"
            + (allowed.isEmpty ? "" : ", answer OPTIONS without a token, and allow the fields \(allowed)")
            + (access.readsChallenge ? "; expose WWW-Authenticate" : "")
            + (access.form == nil ? "" : ", at least for clients that have registered it")
        if isDenied, subject.origin != nil {
            fault(access.topic, text, why: why, mend: mend)
        } else {
            advise(access.topic, text, why: why, mend: mend)
        }
    }

    private var originField: HTTPFields { [.origin: scriptOrigin] }

    private func allowsOrigin(_ response: TransportResponse) -> Bool {
        let allowed = response.head.headerFields[.accessControlAllowOrigin]
        return allowed == scriptOrigin || allowed == "*"
    }

    /// Returns the fields that a preflight response does not allow; `*` does not include `Authorization`.
    private static func denied(_ fields: [String], by response: TransportResponse) -> [String] {
        let allowed = list(.accessControlAllowHeaders, in: response)
        return fields.filter { !allowed.contains($0) && !(allowed.contains("*") && $0 != "authorization") }
    }

    private static func exposesChallenge(_ response: TransportResponse) -> Bool {
        let exposed = list(.accessControlExposeHeaders, in: response)
        return exposed.contains("www-authenticate") || exposed.contains("*")
    }

    private static func list(_ name: HTTPField.Name, in response: TransportResponse) -> [String] {
        response.head.headerFields[values: name]
            .flatMap { $0.split(separator: ",") }.map { String($0).trimmingWhitespace().lowercased() }
    }
}
