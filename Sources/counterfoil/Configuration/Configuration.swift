import CounterfoilClient
import CounterfoilTokens

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    /// Parses the content of a file; refuses members that it does not know.
    init(parsing bytes: [UInt8]) throws(Refusal) {
        let members: [String: JSONValue]
        do { members = try JSONReader.object(bytes) } catch {
            throw Refusal(place: "", reason: "is not a JSON object, or contains a member twice")
        }
        for (name, value) in members {
            switch (name, value) {
            case ("default_profile", .string(let text)):
                guard let profile = ProfileName(text) else { throw Self.badName(text) }
                defaultProfile = profile
            case ("profiles", .object(let profiles)):
                for (text, value) in profiles {
                    guard let profile = ProfileName(text) else { throw Self.badName(text) }
                    logins[profile] = try Self.login(of: profile, value)
                }
            case ("default_profile", _): throw Refusal(place: name, reason: "must be a string")
            case ("profiles", _): throw Refusal(place: name, reason: "must be an object")
            default:
                throw Refusal(
                    place: name, reason: "is unknown; the file has the members default_profile and profiles")
            }
        }
    }

    private static func login(of profile: ProfileName, _ value: JSONValue) throws(Refusal) -> LoginSettings {
        let place = "profiles.\(profile)"
        guard case .object(let members) = value else { throw Refusal(place: place, reason: "must be an object") }
        var settings = LoginSettings()
        for (name, value) in members {
            guard name == "login", case .object(let options) = value else {
                throw Refusal(place: "\(place).\(name)", reason: "is unknown; a profile has the object login")
            }
            do throws(LoginSettings.BadMember) { settings = try LoginSettings(parsing: options) } catch {
                throw Refusal(place: "\(place).login.\(error.name)", reason: error.reason)
            }
        }
        return settings
    }

    private static func badName(_ text: String) -> Refusal {
        Refusal(
            place: "the profile name '\(text.prefix(80))'",
            reason: "must consist of 1 to 64 letters, digits, and the characters - _ and .")
    }

    /// The content for the file, with a member on each line.
    var encoded: [UInt8] {
        get throws {
            struct Profile: Encodable {
                let login: [String: LoginSettings.Value]
            }
            struct Content: Encodable {
                let default_profile: String?
                let profiles: [String: Profile]
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let profiles = logins.map { ($0.rawValue, Profile(login: $1.values)) }
            let content = Content(
                default_profile: defaultProfile?.rawValue, profiles: Dictionary(uniqueKeysWithValues: profiles))
            return Array(try encoder.encode(content)) + [UInt8(ascii: "\n")]
        }
    }
}
