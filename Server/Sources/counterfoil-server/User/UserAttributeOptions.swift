import ArgumentParser
import CounterfoilServer
import CounterfoilStore

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
    func changed(_ former: UserAttributes) throws -> UserAttributes {
        do throws(ClaimProblem) {
            var values = former.values
            for attribute in attributes {
                let (name, value) = try attribute.parsed()
                values[name] = value
            }
            let groups = groups.isEmpty ? former.groups : try UserAttributesDraft.groups(groups)
            do throws(UserAttributes.Refusal) { return try UserAttributes(groups: groups, values: values) } catch {
                throw .refused(error)
            }
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
    func parsed() throws(ClaimProblem) -> (name: ClaimName, value: AttributeValue?) {
        guard let claim = ClaimName(name) else { throw ClaimProblem(withName: name) ?? .notAName(name) }
        guard claim != .groups else { throw .refused(.nameOfGroups) }
        guard !json.isEmpty else { return (claim, nil) }
        guard let value = AttributeValue(json: json) else { throw .notAValue(name) }
        return (claim, value)
    }
}
