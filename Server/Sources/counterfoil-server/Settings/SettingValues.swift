/// The values of settings: of the place that sets each of them, or the defaults.
struct SettingValues: Sendable {
    let texts: SettingTexts
    /// The values that a place sets, each of the type of its setting.
    private let given: [String: any Sendable]

    /// Reads the texts of settings; throws ``CommandFailure`` for one that is wrong.
    init(_ settings: [any AnySetting], _ texts: SettingTexts) throws(CommandFailure) {
        self.texts = texts
        var given: [String: any Sendable] = [:]
        for setting in settings {
            guard let text = texts.values[setting.name]?.texts else { continue }
            do throws(SettingRefusal) { given[setting.name] = try setting.value(of: text) } catch {
                throw texts.failure(SettingMessage(setting, error.words))
            }
        }
        self.given = given
    }

    /// Looks settings up in the places, and reads their texts.
    init(
        _ settings: [any AnySetting], options: [String: [String]], _ sources: SettingSources
    ) throws(CommandFailure) {
        try self.init(settings, SettingTexts(of: settings, options: options, sources))
    }

    subscript<Value>(setting: Setting<Value>) -> Value { given[setting.name] as? Value ?? setting.standard }

    /// Returns whether a place sets a setting.
    func has<Value>(_ setting: Setting<Value>) -> Bool { given[setting.name] != nil }
}
