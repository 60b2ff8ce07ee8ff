import CounterfoilProtocol
public import CounterfoilStore

extension SQLStore {
    /// Reads the branding, which has its default values until it is changed.
    public func branding() async throws(StoreFault) -> Branding {
        try await read { database in
            try database.branding(noting: unsupported)?.branding ?? Branding()
        }
    }

    /// Changes the branding if its stored revision still equals that of `branding`.
    ///
    /// A statement in a language that this version does not know stays. If another value has a form that this version
    /// does not know, the update throws `StoreFault.unsupported`, because it would replace that value.
    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        try await commit(recording: events) { database in
            guard let (stored, replaced) = try database.branding(noting: self.unsupported),
                stored.revision == branding.revision
            else { return .changedMeanwhile }
            if let replaced { throw StoreFault.unsupported(replaced) }
            try database.send(
                "UPDATE branding SET site_name = ?, logo = ?, accent = ?, support_uri = ?, revision = revision + 1",
                branding.siteName,
                try database.logo(after: logo, former: stored.logo)?.rawValue,
                branding.accent?.rawValue,
                branding.supportURI?.rawValue
            )
            if branding.statements != stored.statements { try database.keep(branding.statements) }
            try database.removeLogoIfUnused(stored.logo)
            return .updated
        }
    }
}

extension SQLConnection {
    /// Reads the branding.
    ///
    /// A value in a form that this version does not know counts as not set, because every page reads the branding.
    ///
    /// - Returns: The branding, and the value that is not known and that an update would replace; nil if there is no
    ///   branding.
    fileprivate func branding(
        noting unsupported: UnsupportedValues
    ) throws -> (branding: Branding, replaced: UnsupportedValue?)? {
        // Every page reads the branding, so a single query reads it together with the statements of the service. The
        // query returns one row for each language that has a statement, or one row if no language has one.
        let rows = try all(
            """
            SELECT site_name, logo, accent, support_uri, revision, language, text, privacy_uri
            FROM branding LEFT JOIN site_statements ON true
            """
        ) { columns in
            var ignored: [UnsupportedValue] = []
            let branding = try Branding(&columns, ignoring: &ignored)
            for value in ignored { unsupported.note(value) }
            return (branding: branding, replaced: ignored.first { $0.column != Branding.languageColumn })
        }
        guard var branding = rows.first?.branding else { return nil }
        for row in rows.dropFirst() { branding.statements.merge(row.branding.statements) { first, _ in first } }
        return (branding, rows.lazy.compactMap(\.replaced).first)
    }

    fileprivate func keep(_ statements: [Language: SiteStatement]) throws {
        for language in Language.allCases {
            try send("DELETE FROM site_statements WHERE language = ?", language.rawValue)
        }
        for (language, statement) in statements where !statement.isEmpty {
            try send(
                "INSERT INTO site_statements (language, text, privacy_uri) VALUES (?, ?, ?)",
                language.rawValue,
                statement.text,
                statement.privacyURI?.rawValue
            )
        }
    }
}

extension Branding {
    fileprivate static let languageColumn = "language"

    /// Reads the branding and one statement, without the values that this version does not know.
    fileprivate init(_ columns: inout Columns, ignoring ignored: inout [UnsupportedValue]) throws {
        columns.record = "branding"
        self.init(
            siteName: try columns.optionalText(),
            logo: try columns.optionalValue(LogoIdentifier.init(_:)),
            accent: try columns.form(AccentColor.init(_:), orIgnore: &ignored),
            supportURI: try columns.form({ try AbsoluteURI(parsing: $0) }, orIgnore: &ignored),
            revision: Int(try columns.integer())
        )
        guard let word = try columns.optionalText() else { return }
        guard let language = Language(rawValue: word) else {
            ignored.append(columns.unsupported(word))
            return
        }
        statements[language] = SiteStatement(
            text: try columns.optionalText(),
            privacyURI: try columns.form({ try AbsoluteURI(parsing: $0) }, orIgnore: &ignored))
    }
}

extension Columns {
    /// Reads a value; nil for NULL, and for a form that this version does not know.
    fileprivate mutating func form<Value>(
        _ make: (String) throws -> Value?, orIgnore ignored: inout [UnsupportedValue]
    ) throws(StoreFault) -> Value? {
        do {
            return try optionalForm(make)
        } catch .unsupported(let value) {
            ignored.append(value)
            return nil
        }
    }
}
