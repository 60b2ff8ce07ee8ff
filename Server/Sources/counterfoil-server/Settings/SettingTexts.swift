@_spi(Counterfoil) import CounterfoilProtocol

/// The texts of settings as they were given, each with the place that has it.
///
/// An option goes before the environment, and the environment before the file.
struct SettingTexts: Sendable {
    enum Origin: Sendable, Hashable {
        case option
        case environment
        case file(line: Int)

        /// The rank of the place; the lowest one wins.
        fileprivate var rank: Int {
            switch self {
            case .option: 0
            case .environment: 1
            case .file: 2
            }
        }
    }

    struct Value: Sendable, Hashable {
        /// The texts of the value: one, or those of a list.
        let texts: [String]
        let origin: Origin
    }

    /// The path of the settings file; nil without one.
    let path: String?
    /// The settings that are set, by name.
    private(set) var values: [String: Value] = [:]

    /// Looks the settings up in the places.
    ///
    /// - Parameters:
    ///   - settings: The settings of the command.
    ///   - options: The texts of the options in the command line, by the names of the settings.
    ///   - sources: The other places.
    init(
        of settings: [any AnySetting], options: [String: [String]], _ sources: SettingSources
    ) throws(CommandFailure) {
        path = sources.file?.path
        for setting in settings {
            if let texts = options[setting.name] {
                values[setting.name] = Value(texts: texts, origin: .option)
            } else if setting.administration != nil {
                continue
            } else if let text = sources.environment[setting.variable] {
                values[setting.name] = Value(texts: Self.texts(text, of: setting), origin: .environment)
            } else if let entry = sources.file?.entries[setting.name] {
                values[setting.name] = Value(texts: entry.texts, origin: .file(line: entry.line))
            }
        }
        try settleStore()
    }

    /// Returns the texts in a variable, in which commas separate the elements of a list.
    private static func texts(_ text: String, of setting: any AnySetting) -> [String] {
        guard setting.kind == .list else { return [text] }
        return text.split(separator: ",").map { String($0).trimmingWhitespace() }
    }

    /// Drops the settings of a store that a stronger place replaces by another store.
    ///
    /// - Throws: ``CommandFailure`` if the file and the environment name stores of different kinds. Neither is dropped
    ///   silently, because the server would start with an empty store.
    private mutating func settleStore() throws(CommandFailure) {
        let (directory, database) = (values[Settings.dataDir.name], values[Settings.database.name])
        if let directory, let database, directory.origin.rank != database.origin.rank {
            let both: [(setting: any AnySetting, origin: Origin, other: any AnySetting, otherOrigin: Origin)] = [
                (Settings.dataDir, directory.origin, Settings.database, database.origin),
                (Settings.database, database.origin, Settings.dataDir, directory.origin),
            ]
            for (setting, origin, other, otherOrigin) in both {
                guard case .file = origin, otherOrigin == .environment else { continue }
                throw failure(
                    SettingMessage(
                        setting,
                        " names a store, and \(other.variable) in the environment names another one; remove one of them"
                    ))
            }
            values[directory.origin.rank < database.origin.rank ? Settings.database.name : Settings.dataDir.name] = nil
        }
        // The key of a weaker place belongs to a database, and a directory has its own key.
        guard let directory = values[Settings.dataDir.name], values[Settings.database.name] == nil,
            let key = values[Settings.serverKeyFile.name], key.origin.rank > directory.origin.rank
        else { return }
        values[Settings.serverKeyFile.name] = nil
    }

    /// The name of a setting in a place.
    private func name(of setting: String, in origin: Origin) -> String {
        switch origin {
        case .option: "--\(setting)"
        case .environment: Settings.variable(of: setting)
        case .file: setting
        }
    }

    /// The origins of the settings in a message that the command line does not set; those of the file come first.
    private func origins(of message: SettingMessage) -> [Origin] {
        message.settings.compactMap { values[$0]?.origin }.filter { $0 != .option }.sorted { $0.rank > $1.rank }
    }

    /// Returns a message with the places that set the settings in it: `--listen x: must be …`,
    /// `COUNTERFOIL_LISTEN x: must be …`, or `server.yaml, line 3: listen x: must be …`.
    ///
    /// A setting that no place sets has the form of the others.
    func words(_ message: SettingMessage) -> String {
        let other = origins(of: message).first ?? .option
        let place = if case .file(let line) = other { "\(path ?? ""), line \(line): " } else { "" }
        return place + message.text { name(of: $0, in: values[$0]?.origin ?? other) }
    }

    /// Returns the failure for a mistake: in the settings file, or in the command line or a variable.
    func failure(_ message: SettingMessage) -> CommandFailure {
        if case .file = origins(of: message).first { return .refused(words(message)) }
        return .usage(words(message))
    }
}
