import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
import HTTPTypes

/// `counterfoil call` sends a request with the access token to an API.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call an API with the access token and print its response.",
        discussion: """
            The token is sent only to https URLs and to this device, and along a redirect only within the origin of \
            the URL. It is refreshed if necessary. If the status is 400 or more, the body is printed too, and the exit \
            code is 7, or 3 if you have to sign in again, or 6 for a temporary failure. If the API rejects the token, the \
            command says what differs from what the API accepts. With --step-up, the browser opens if the API requires \
            more permissions, or a stronger or newer sign-in.

            The response is printed as it arrives, whatever its length. A file is sent while it is read. If standard \
            input has more than 1 MiB, it is sent only once, so the request is not repeated. If the reader of the output \
            has gone, the exit code is 141.

            Examples:
              counterfoil call https://photos.example.com/photos
              counterfoil call --data @photo.json https://photos.example.com/photos
              tar c photos | counterfoil call --data @- https://photos.example.com/import

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The URL of the API.")
    var url: String

    @Flag(help: "Print the status and the header fields before the body.")
    var include = false

    @Option(help: ArgumentHelp("The HTTP method. (default: GET, or POST with --data)", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("The body: @FILE, @- for standard input, or the text itself.", valueName: "data"))
    var data: String?

    @Option(help: ArgumentHelp("A header field to add. Can be repeated.", valueName: "name: value"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "The time to wait for the response, and then for each further part of it.", valueName: "seconds"))
    var timeout = 300

    @Flag(name: .customLong("step-up"), help: "Sign in again if the API requires more.")
    var stepsUp = false

    @Option(help: ArgumentHelp("With --step-up, the registered redirect URI.", valueName: "uri"))
    var redirectURI: String?

    @OptionGroup var target: TargetOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if stepsUp, !target.scope.isEmpty {
            throw ValidationError("--step-up requests more scope, which --scope would exclude; omit one of the two.")
        }
        guard (1...86400).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 86400.")
        }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            var request = try TransportRequest(
                api: url, method: try httpMethod(), headerFields: try headerFields(), body: try body())
            request.timeout = .seconds(timeout)
            let redirect = try redirectOption()
            let session = try await common.session(for: target.value)
            let response =
                if stepsUp {
                    try await revokingUnstoredSignIn(in: session) {
                        try await session.stream(
                            request, for: target.value, idleTimeout: request.timeout
                        ) { signIn in
                            try await Self.run(signIn, redirect: redirect, console)
                        }
                    }
                } else {
                    try await session.stream(request, for: target.value, idleTimeout: request.timeout)
                }
            await common.warnIfNotSaved(session)
            if include {
                try console.result("HTTP \(response.head.status)")
                for field in response.head.headerFields { try console.result("\(field.name): \(field.value)") }
                try console.result("")
            }
            try await console.result(response.body)
            if response.statusCode == 401, StepUp(demandedBy: response.head) == nil {
                let credentials = try await session.credentials(for: target.value)
                guard request.body.isRepeatable || !credentials.isRefreshable else {
                    throw Self.failureWithoutRepetition(response.head)
                }
                let command = LoginCommand(
                    repeating: try await session.presentCredentials(), profile: common.profile,
                    rememberedIn: .ofThisUser())
                throw await TokenRejection(of: credentials, by: response.head, at: request.endpoint, command: command)
                    .failure
            }
            if let demand = StepUp(demandedBy: response.head) {
                let isSteppedUp = stepsUp && request.body.isRepeatable
                throw Failure(
                    demand, of: response.head, to: request,
                    after: isSteppedUp ? try? await session.presentCredentials() : nil)
            }
            if let failure = Self.failure(of: response.head, to: request) { throw failure }
        }
    }

    private func redirectOption() throws(Failure) -> RedirectOption? {
        guard let redirectURI else { return nil }
        return try Failure.usage { try .registered(redirectURI) }
    }

    /// Runs the step-up sign-in: the API requires a wider scope, or a stronger or newer sign-in (RFC 9470).
    private static func run(
        _ prepared: NativeSignIn, redirect: RedirectOption?, _ console: CommandOutput
    ) async throws -> Credentials {
        var signIn = prepared
        if let redirect { signIn.redirect = redirect }
        let wish = prepared.demand.map { "\($0)" } ?? "another sign-in"
        let scope = prepared.scope.isEmpty ? "" : " Requesting the scope: \(prepared.scope)."
        console.say("The API requires \(wish).\(scope)")
        let progress = SignInProgress(console: console)
        let ready = signIn
        return try await runUntilInterrupted { try await ready.run { progress.tell($0) } }
    }

    private func httpMethod() throws(Failure) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(method ?? (data == nil ? "GET" : "POST")) else {
            throw Failure(.usage, "'\(method ?? "")' is not an HTTP method; write it as in --method PUT")
        }
        return method
    }

    private func headerFields() throws(Failure) -> HTTPFields {
        var fields = HTTPFields()
        for text in header {
            let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = HTTPField.Name(String(halves[0])) else {
                throw Failure(.usage, "--header must have the form 'name: value'")
            }
            let value = halves[1].trimmingWhitespace()
            guard HTTPField.isValidValue(value) else {
                throw Failure(.usage, "the value of the header field \(name) contains invalid characters")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    private func body() throws(Failure) -> RequestBody {
        guard let data else { return RequestBody() }
        guard data.hasPrefix("@") else { return RequestBody(data.utf8) }
        let path = String(data.dropFirst())
        do throws(RequestBody.Unreadable) {
            guard path == "-" else { return try RequestBody(file: path) }
            return try RequestBody(reading: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0))
        } catch {
            let source = path == "-" ? "standard input" : "the file \(path)"
            throw Failure(.usage, "cannot read \(source): \(error)")
        }
    }

    /// The failure after the status 401, if the data could be sent only once.
    private static func failureWithoutRepetition(_ response: HTTPResponse) -> Failure {
        let challenge = response.headerFields[.wwwAuthenticate] ?? ""
        // RFC 9449 §9: the API demands a nonce that only its response contains.
        guard !challenge.contains("use_dpop_nonce") else {
            return Failure(
                .usage, "the API requires the request again with a nonce (status 401). \(sentOnce)")
        }
        return Failure(
            .unavailable,
            "the API rejected the token (status 401). There is a new token, so run the command again. \(sentOnce)")
    }

    private static let sentOnce =
        "The data was not sent again, because it cannot be read again; data in a file can: use --data @FILE"

    private static func failure(of response: HTTPResponse, to request: TransportRequest) -> Failure? {
        let status = response.status.code
        return switch status {
        case 403: Failure(.refused, "the API denied access (status 403); check the permissions of the user")
        case 408, 429, 500..<600:
            Failure(.unavailable, "the API failed or is overloaded (status \(status)); try again later")
        case 400..<500:
            Failure(.refused, "the API rejected the request (status \(status)); see its response")
        case 300..<400 where status != 304:
            Failure(
                .unsafe,
                "the API responded with a redirect to \(response.headerFields[.location] ?? "an unknown URL"), which is not "
                    + "followed because the token could reach another host"
                    + (request.body.isRepeatable ? "" : ", or because the data cannot be sent again")
                    + "; call that URL if you trust it")
        default: nil
        }
    }
}
