import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilTokens

/// The content of the configuration file: the default profile, and the options of `login` for profiles.
///
///     {
///       "default_profile": "work",
///       "profiles": {
///         "work": { "login": { "issuer": "https://id.example.com", "client-id": "lightbox", "scope": ["openid"] } }
///       }
///     }
struct Configuration: Equatable, Sendable {
    /// The profile of commands without --profile; nil means `default`.
    var defaultProfile: ProfileName?
    /// The options of `login` by profile.
    var logins: [ProfileName: LoginSettings] = [:]

    /// The reason why the content of a file is refused, with the place in it.
    struct Refusal: Error, CustomStringConvertible {
        let place: String
        let reason: String

        var description: String { place.isEmpty ? "it \(reason)" : "\(place) \(reason)" }
    }

    init() {}

    /// The members of the file.
    private struct Content: Codable {
        struct Profile: Codable {
            var login: LoginSettings?
        }

        var default_profile: String?
        var profiles: [String: Profile]?
    }

    /// Parses the content of a file; refuses members that it does not know.
    init(parsing bytes: [UInt8]) throws(Refusal) {
        let members: [String: JSONValue]
        do { members = try JSONReader.object(bytes) } catch {
            throw Refusal(place: "", reason: "is not a JSON object, or contains a member twice")
        }
        try Self.checkNames(members)
        let content: Content
        do { content = try JSONDecoder().decode(Content.self, from: Data(bytes)) } catch { throw Refusal(error) }
        defaultProfile = try content.default_profile.map(Self.profile)
        for (name, profile) in content.profiles ?? [:] {
            logins[try Self.profile(name)] = profile.login ?? LoginSettings()
        }
    }

    /// Throws if a member is unknown.
    private static func checkNames(_ members: [String: JSONValue]) throws(Refusal) {
        for (name, value) in members {
            guard ["default_profile", "profiles"].contains(name) else {
                throw Refusal(
                    place: name, reason: "is unknown; the file has the members default_profile and profiles")
            }
            guard name == "profiles", case .object(let profiles) = value else { continue }
            for (profile, value) in profiles {
                guard case .object(let members) = value else { continue }
                for (name, value) in members {
                    let place = "profiles.\(profile).\(name)"
                    guard name == "login" else {
                        throw Refusal(place: place, reason: "is unknown; a profile has the object login")
                    }
                    guard case .object(let options) = value else { continue }
                    guard let option = options.keys.first(where: { !LoginSettings.names.contains($0) }) else {
                        continue
                    }
                    let known = LoginSettings.names.joined(separator: ", ")
                    throw Refusal(
                        place: "\(place).\(option)",
                        reason: "is not an option of login; the options are \(known)")
                }
            }
        }
    }

    private static func profile(_ name: String) throws(Refusal) -> ProfileName {
        guard let profile = ProfileName(name) else { throw badName(name) }
        return profile
    }

    private static func badName(_ text: String) -> Refusal {
        Refusal(
            place: "the profile name '\(text.prefix(80))'",
            reason: "must consist of 1 to 64 letters, digits, and the characters - _ and .")
    }

    /// The content for the file, with a member on each line.
    var encoded: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let profiles = logins.map { ($0.rawValue, Content.Profile(login: $1)) }
            let content = Content(
                default_profile: defaultProfile?.rawValue, profiles: Dictionary(uniqueKeysWithValues: profiles))
            return Array(try encoder.encode(content)) + [UInt8(ascii: "\n")]
        }
    }
}

extension Configuration.Refusal {
    /// Creates the refusal of a member that has not the type of its value.
    fileprivate init(_ error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(place: "", reason: "cannot be read: \(error)")
            return
        }
        let (path, reason) =
            switch error {
            case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
                (context.codingPath, "must be \(Self.name(of: type, in: context.codingPath))")
            case .dataCorrupted(let context):
                (context.codingPath, "has a value that login does not know; see counterfoil login --help")
            case .keyNotFound(_, let context): (context.codingPath, "is incomplete")
            @unknown default: ([], "cannot be read")
            }
        let names = path.filter { $0.intValue == nil }.map(\.stringValue)
        self.init(place: names.joined(separator: "."), reason: reason)
    }

    private static func name(of type: any Any.Type, in path: [any CodingKey]) -> String {
        if type == Bool.self { return "true or false" }
        if type == String.self, path.allSatisfy({ $0.intValue == nil }) { return "a string" }
        return path.count > 3 ? "a list of strings" : "an object"
    }
}
