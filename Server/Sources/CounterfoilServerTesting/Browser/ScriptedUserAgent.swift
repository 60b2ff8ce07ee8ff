public import CounterfoilProtocol
public import CounterfoilServer
public import HTTPTypes

/// A simulated browser with its user, which sends requests directly to a server in this process.
///
/// It keeps cookies, follows redirects within the server, and submits the forms of pages. A copy is a second
/// browser with the same cookies, as if they were stolen.
public struct ScriptedUserAgent: Sendable {
    /// A button of the consent page and of similar pages; the raw value is the form field `decision`.
    public enum Decision: String, Sendable, CaseIterable {
        /// Allows the request.
        case allow
        /// Denies the request.
        case deny
        /// Switches to another account.
        case switchAccount = "switch"
    }

    /// The server that receives the requests.
    public let server: AuthorizationServer
    /// The values of the cookies, by name.
    public var cookies: [String: String] = [:]
    /// The IP address from which the requests come.
    public var source: String
    /// Header fields to add to every request.
    public var fields: HTTPFields = [:]
    /// Whether requests have the header field `Sec-Fetch-Site`, as those of current browsers do.
    public var namesSite = true

    private var requests = 0

    /// Creates a browser without cookies whose requests come from the IP address `source`.
    public init(_ server: AuthorizationServer, source: String = "192.0.2.1") {
        self.server = server
        self.source = source
    }

    /// Opens a URL or path of the server, and follows redirects within the server.
    public mutating func open(_ address: String) async throws -> Reply {
        try await follow(try await send(.get, to: address))
    }

    /// Submits a form of a page, and follows redirects within the server.
    public mutating func submit(_ form: FormParameters, to address: String) async throws -> Reply {
        try await follow(try await send(.post, to: address, form: form))
    }

    /// Sends a request without following redirects.
    ///
    /// `Sec-Fetch-Site` is `same-origin` for POST and `none` for other methods.
    public mutating func send(
        _ method: HTTPRequest.Method,
        to address: String,
        form: FormParameters? = nil,
        upload: Upload? = nil,
        fields: HTTPFields = [:]
    ) async throws -> Reply {
        let origin = server.settings.issuer.origin
        let target = address.hasPrefix(origin) ? String(address.dropFirst(origin.count)) : address
        let path = String(target.prefix { $0 != "?" })
        guard let route = server.routing.routes.route(path) else { throw NoSuchPage(path: path) }
        var sent = self.fields
        if namesSite, let name = HTTPField.Name("Sec-Fetch-Site") {
            sent[name] = method == .post ? "same-origin" : "none"
        }
        if form != nil { sent[.contentType] = "application/x-www-form-urlencoded" }
        if upload != nil { sent[.contentType] = "multipart/form-data; boundary=\(Upload.boundary)" }
        if !cookies.isEmpty {
            sent[.cookie] = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        for field in fields { sent[field.name] = field.value }
        requests += 1
        let reply = await server.respond(
            to: IncomingRequest(
                head: HTTPRequest(method: method, scheme: nil, authority: nil, path: target, headerFields: sent),
                body: upload?.body ?? Array((form?.encoded ?? "").utf8), source: source, id: "request-\(requests)",
                parameters: route.parameters
            ),
            at: route.endpoint
        )
        for cookie in reply.cookies { keep(cookie) }
        return reply
    }

    /// The fields of a form with a file, which is sent as `multipart/form-data` (RFC 7578).
    public struct Upload: Sendable {
        static let boundary = "----counterfoil-7MA4YWxkTrZu0gW"

        /// The fields of the form other than the file.
        public var fields: FormParameters
        /// The name of the file field.
        public var fileField: String
        /// The content of the file, sent as `client/octet-stream`.
        public var file: [UInt8]

        /// Creates a form with one file; the content type of the file is `client/octet-stream`.
        public init(_ fields: FormParameters, fileField: String, file: [UInt8]) {
            self.fields = fields
            self.fileField = fileField
            self.file = file
        }

        var body: [UInt8] {
            var body = ""
            for pair in fields.pairs {
                body += "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(pair.name)\"\r\n\r\n"
                body += "\(pair.value)\r\n"
            }
            body += "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(fileField)\"; filename=\"file\""
            body += "\r\nContent-Type: application/octet-stream\r\n\r\n"
            return Array(body.utf8) + file + Array("\r\n--\(Self.boundary)--\r\n".utf8)
        }
    }

    /// Submits a form with a file, and follows redirects within the server.
    public mutating func submit(_ upload: Upload, to address: String) async throws -> Reply {
        try await follow(try await send(.post, to: address, upload: upload))
    }

    /// Submits the sign-in page of a reply with a username and a password.
    ///
    /// - Parameters:
    ///   - reply: The reply with the page.
    ///   - username: The username or email address.
    ///   - password: The password.
    ///   - staysSignedIn: Whether the box "Keep me signed in on this device" is ticked; nil leaves it as it is.
    public mutating func signIn(
        on reply: Reply, username: String, password: String, stayingSignedIn staysSignedIn: Bool? = nil
    ) async throws -> Reply {
        let page = try reply.signInPage
        let form = page.form(username: username, password: password, stayingSignedIn: staysSignedIn)
        return try await submit(form, to: page.action)
    }

    /// Presses "Use another account" on the sign-in page of a reply; the server then deletes the cookie with the user
    /// who signed in before in this browser.
    public mutating func forgetEarlier(on reply: Reply) async throws -> Reply {
        let page = try reply.signInPage
        let form = FormParameters(["request": page.request, "ticket": page.ticket, "forget": "true"])
        return try await submit(form, to: page.action)
    }

    /// Presses a button on the consent page of a reply, with the checkboxes of `scopes` unchecked.
    public mutating func decide(
        _ decision: Decision,
        on reply: Reply,
        leavingOut scopes: Set<String> = []
    ) async throws -> Reply {
        let page = try reply.consentPage
        let action = decision == .switchAccount ? page.switchAccountAction : page.action
        return try await submit(page.form(decision, leavingOut: scopes), to: action)
    }

    /// Presses a button on the page of a reply on which the user confirms a sign-in.
    public mutating func confirm(_ decision: Decision, on reply: Reply) async throws -> Reply {
        let page = try reply.continuePage
        return try await submit(page.form(decision), to: page.action)
    }

    /// Opens an authorization request, answers each page that the server then shows, and returns the last reply.
    ///
    /// The pages are those for sign-in, consent, and confirmation of a sign-in.
    public mutating func authorize(
        _ address: String,
        username: String,
        password: String,
        decision: Decision = .allow
    ) async throws -> Reply {
        var reply = try await open(address)
        if reply.page is SignInPage {
            reply = try await signIn(on: reply, username: username, password: password)
        }
        if reply.page is ConsentPage {
            reply = try await decide(decision, on: reply)
        }
        if reply.page is ContinuePage {
            reply = try await confirm(decision, on: reply)
        }
        return reply
    }

    /// Signs in to the console, opens the page at `path`, and returns the last reply.
    @discardableResult
    public mutating func signInToConsole(
        username: String, password: String = TestServer.password, stayingSignedIn staysSignedIn: Bool? = nil,
        to path: String = "/account"
    ) async throws -> Reply {
        let page = try await open(
            server.settings.issuer.endpoint("/sign-in") + "?" + FormParameters(["to": path]).encoded)
        return try await signIn(
            on: page, username: username, password: password, stayingSignedIn: staysSignedIn)
    }

    /// The error when the server has no endpoint at a path.
    public struct NoSuchPage: Error, CustomStringConvertible {
        /// The requested path.
        public let path: String

        /// A sentence with the path.
        public var description: String { "the server has nothing at \(path)" }
    }

    private mutating func follow(_ first: Reply) async throws -> Reply {
        var reply = first
        for _ in 0..<5 {
            guard reply.status == .seeOther, let location = reply.location, isOfTheServer(location) else {
                return reply
            }
            reply = try await send(.get, to: location)
        }
        throw UnexpectedReply(needed: "an end of redirects", reply: reply)
    }

    /// Returns true for a URL of the server and for a path; a URL such as `//host` belongs to another server.
    private func isOfTheServer(_ address: String) -> Bool {
        address.hasPrefix(server.settings.issuer.endpoint("/")) || (address.hasPrefix("/") && !address.hasPrefix("//"))
    }

    private mutating func keep(_ cookie: String) {
        let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2 else { return }
        cookies[String(pair[0])] = cookie.contains("Max-Age=0") ? nil : String(pair[1])
    }
}

extension SignInPage {
    /// Returns the form fields for a sign-in with a username and a password.
    ///
    /// - Parameters:
    ///   - username: The username or email address.
    ///   - password: The password.
    ///   - staysSignedIn: Whether the box "Keep me signed in on this device" is ticked; nil leaves it as it is.
    public func form(
        username: String, password: String, stayingSignedIn staysSignedIn: Bool? = nil
    ) -> FormParameters {
        var form = FormParameters(["request": request, "ticket": ticket, "username": username, "password": password])
        if staysSignedIn ?? stayBox?.isTicked ?? false { form.append("stay_signed_in", "true") }
        return form
    }
}

extension ContinuePage {
    /// Returns the form fields that the browser sends when a button is pressed.
    public func form(_ decision: ScriptedUserAgent.Decision) -> FormParameters {
        FormParameters(["request": request, "ticket": ticket, "decision": decision.rawValue])
    }
}

extension ConsentPage {
    /// Returns the form fields that the browser sends when a button is pressed, with the checkboxes of `scopes`
    /// unchecked.
    ///
    /// The form for switching the account has no checkboxes.
    public func form(
        _ decision: ScriptedUserAgent.Decision,
        leavingOut scopes: Set<String> = []
    ) -> FormParameters {
        var form = FormParameters(["request": request, "ticket": ticket])
        if decision != .switchAccount {
            for permission in permissions where !permission.required && !scopes.contains(permission.scope) {
                form.append("permission.\(permission.scope)", "granted")
            }
            for permission in allowedBefore where !permission.required {
                form.append("permission.\(permission.scope)", "granted")
            }
        }
        form.append("decision", decision.rawValue)
        return form
    }
}
