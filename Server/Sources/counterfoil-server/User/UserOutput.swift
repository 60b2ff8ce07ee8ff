import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// A user in the output of commands, with the groups and attributes if a command shows them.
struct UserOutput: Encodable {
    private let user: AdministrationRecord

    init(_ user: AdministrationRecord, attributes: AdministrationRecord? = nil) {
        self.user = AdministrationRecord(
            user.members.merging(attributes?.members ?? [:], uniquingKeysWith: { member, _ in member }))
    }

    func encode(to encoder: any Encoder) throws { try user.encode(to: encoder) }

    /// The user as one line of text.
    var line: String {
        var words = user.username
        if let email = user.text("email") { words += " <\(EscapedText(email, limit: 1000))>" }
        if let role = user.text("role") { words += ", \(DisplayName(role))" }
        if user.flag("disabled") { words += ", disabled" }
        if user.flag("must_change_password") { words += ", must change the password" }
        if user.members["has_password"] == .boolean(false) { words += ", no password" }
        return words
    }

    /// The names of the lines by the claims of the profile, in the order of the lines.
    private static let claims = [
        ("given_name", "given name"), ("family_name", "family name"), ("middle_name", "middle name"),
        ("nickname", "nickname"), ("profile", "profile"), ("picture", "picture"), ("website", "website"),
        ("gender", "gender"), ("birthdate", "birthdate"), ("zoneinfo", "time zone"), ("locale", "language"),
        ("phone_number", "telephone"),
    ]

    /// The names of the lines by the parts of the postal address, in the order of the lines.
    private static let addressParts = [
        ("formatted", "address"), ("street_address", "street"), ("locality", "city"), ("region", "region"),
        ("postal_code", "postal code"), ("country", "country"),
    ]

    /// The user as text, one line for each value.
    ///
    /// Values that are not set are omitted.
    private var words: String {
        let user = user
        var lines = [line]
        func add(_ name: String, _ value: String?) {
            // `DisplayName` removes line breaks and control characters, so a value cannot imitate another line.
            if let value { lines.append("  \(name): \(DisplayName(value))") }
        }
        add("sub", user.text("id"))
        add("name", user.text("name"))
        if user.text("email") != nil { add("email verified", user.flag("email_verified") ? "yes" : "no") }
        let profile = user.record("profile")
        for (claim, name) in Self.claims { add(name, profile?.text(claim)) }
        if profile?.text("phone_number") != nil {
            add("telephone verified", profile?.flag("phone_number_verified") == true ? "yes" : "no")
        }
        for (part, name) in Self.addressParts { add(name, profile?.record("address")?.text(part)) }
        add("external ID", user.text("external_id"))
        add("accepted terms", user.text("terms_version").map { "\($0), \(user.text("terms_accepted_at") ?? "")" })
        let groups = user.texts("groups").map { "\(DisplayName($0))" }
        if !groups.isEmpty { lines.append("  groups: " + groups.joined(separator: ", ")) }
        for (name, value) in (user.record("attributes")?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
            let json = (try? Output.encoded(value)).map { String(decoding: $0, as: UTF8.self) }
            add("attribute \(EscapedText(name))", json)
        }
        add("last sign-in", user.text("last_sign_in_at") ?? "never")
        add("second factor", user.flag("has_second_factor") ? "yes" : "no")
        add("passkeys", String(user.integer("passkeys") ?? 0))
        return lines.joined(separator: "\n")
    }

    /// Prints the user with all values.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(words)
    }
}
