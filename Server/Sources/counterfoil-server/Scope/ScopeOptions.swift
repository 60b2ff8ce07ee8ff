import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The options that `scope create` and `scope edit` share.
struct ScopeOptions: ParsableArguments {
    /// The options by the members of a scope.
    static let options = [
        "description": "--description", "texts": "--text", "listed": "--no-listed", "claims": "--claims",
        "claims_in": "--claims-in",
    ]

    /// The help text of `--description`.
    ///
    /// The option itself is declared by the commands, because `scope create` requires it and `scope edit` does not.
    static let descriptionHelp = ArgumentHelp(
        "What the scope permits, in English, shown on the consent page; 1 to 200 characters.", valueName: "text")

    @Option(
        name: .customLong("text"),
        help: ArgumentHelp(
            "The same in another language, such as de=… for German; nothing after = removes it. Can be repeated.",
            valueName: "language=text"))
    var texts: [ScopeText] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the server metadata lists it in scopes_supported. Scopes of OpenID Connect are always listed.")
    var listed: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether its checkbox is initially ticked where it is optional. EU law does not accept that as consent.")
    var startsTicked: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether only approved apps get it. Developers cannot add it; see: counterfoil-server app approve --help")
    var reserved: Bool?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The claims about a user that it releases: names of attributes, and groups, separated by commas. An empty "
                + "value removes them.", valueName: "names"))
    var claims: ScopeNames?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where clients get these claims: id_token, access_token and userinfo, separated by commas. (default: "
                + "userinfo)", valueName: "places"))
    var claimsIn: ClaimPlaces?

    /// Whether any option is given.
    var hasChanges: Bool {
        !texts.isEmpty || claims != nil || claimsIn != nil || [listed, startsTicked, reserved].contains { $0 != nil }
    }

    /// Writes the values of the given options into the body of a request.
    func write(into members: inout [String: JSONValue]) {
        var others: [String: JSONValue] = [:]
        for text in texts {
            if text.language == .standard {
                members["description"] = .string(text.text)
            } else {
                others[text.language.rawValue] = .string(text.text)
            }
        }
        if !others.isEmpty { members["texts"] = .object(others) }
        if let listed { members["listed"] = .boolean(listed) }
        if let startsTicked { members["starts_ticked"] = .boolean(startsTicked) }
        if let reserved { members["reserved"] = .boolean(reserved) }
        if let claims { members["claims"] = .array(claims.names.filter { !$0.isEmpty }.map { .string($0) }) }
        if let claimsIn { members["claims_in"] = .array(claimsIn.places.map { .string($0.rawValue) }) }
    }

    func validate() throws {
        for text in texts { try Self.check(text.text, in: text.language) }
    }

    /// Throws unless pages can show a text as it is.
    static func check(_ text: String, in language: Language = .standard) throws {
        guard ScopeDraft.accepts(text, in: language) else {
            throw ValidationError("The text of a scope must be 1 to 200 visible characters on one line.")
        }
    }

    static func check(name: String) throws {
        guard Scope.Token(name) != nil else {
            throw ValidationError(
                "The name of a scope must be 1 to 255 visible ASCII characters, except spaces, \" and \\.")
        }
    }
}

/// The value of `--text`: the tag of a language, `=`, and a text.
struct ScopeText: ExpressibleByArgument {
    let language: Language
    let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let language = Language(rawValue: String(parts[0])) else { return nil }
        self.language = language
        text = String(parts[1])
    }
}

/// The value of `--claims-in`: the names of places, separated by spaces or commas.
struct ClaimPlaces: ExpressibleByArgument {
    let places: Set<ReleasedClaims.Place>

    init?(argument: String) {
        var places: Set<ReleasedClaims.Place> = []
        for name in ScopeNames(argument: argument).names {
            guard let place = ReleasedClaims.Place(rawValue: name) else { return nil }
            places.insert(place)
        }
        self.places = places
    }
}
