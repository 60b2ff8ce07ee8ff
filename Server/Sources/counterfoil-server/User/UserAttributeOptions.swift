import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The options for the groups and attributes of a user.
struct UserAttributeOptions: ParsableArguments {
    @Option(
        name: .customLong("group"),
        help: ArgumentHelp(
            "A group of the user. Can be repeated. The given groups replace all, and an empty value removes all.",
            valueName: "name"))
    var groups: [String] = []

    @Option(
        name: .customLong("attribute"),
        help: ArgumentHelp(
            "An attribute with its value in JSON: a string, a whole number, true, false or a list of strings, such as "
                + "floor=3 or 'department=\"Sales\"'. Nothing after = removes it. Can be repeated.",
            valueName: "name=json"))
    var attributes: [AttributeOption] = []

    /// Whether any option is given.
    var hasChanges: Bool { !groups.isEmpty || !attributes.isEmpty }

    func validate() throws {
        do throws(ClaimProblem) { _ = try UserAttributesDraft.groups(groups) } catch {
            throw ValidationError("--group: \(Localizer.english(error))")
        }
        for attribute in attributes {
            do throws(ClaimProblem) { _ = try attribute.parsed() } catch {
                throw ValidationError("--attribute \(attribute.name): \(Localizer.english(error))")
            }
        }
    }

    /// Returns the groups and attributes with the changes of the given options.
    func members(changing former: AdministrationRecord) throws -> [String: JSONValue] {
        var values = former.record("attributes")?.members ?? [:]
        do throws(ClaimProblem) {
            for attribute in attributes {
                let (name, value) = try attribute.parsed()
                values[name.rawValue] = value
            }
            let names =
                groups.isEmpty
                ? former.texts("groups") : try UserAttributesDraft.groups(groups).sorted().map(\.rawValue)
            return ["groups": .array(names.map { .string($0) }), "attributes": .object(values)]
        } catch { throw CommandFailure.refused(Localizer.english(error)) }
    }
}

/// The value of `--attribute`: a name, `=`, and a JSON text.
struct AttributeOption: ExpressibleByArgument {
    let name: String
    /// The JSON text; empty to remove the attribute.
    private let json: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        (name, json) = (parts[0], parts[1])
    }

    /// Returns the name and the value; the value is nil to remove the attribute.
    func parsed() throws(ClaimProblem) -> (name: ClaimName, value: JSONValue?) {
        guard let claim = ClaimName(name) else { throw ClaimProblem(withName: name) ?? .notAName(name) }
        guard claim != .groups else { throw .refused(.nameOfGroups) }
        guard !json.isEmpty else { return (claim, nil) }
        guard let value = AttributeValue(json: json) else { throw .notAValue(name) }
        return (claim, value.member)
    }
}

extension AttributeValue {
    /// The value in a body of the administration API.
    fileprivate var member: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let integer): .integer(integer)
        case .flag(let flag): .boolean(flag)
        case .texts(let texts): .array(texts.map { .string($0) })
        }
    }
}
