package import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The groups and attributes of a user as an administrator entered them, before they are checked.
package struct UserAttributesDraft: Sendable, Hashable {
    /// A field of the form.
    package enum Field: String, Sendable, Hashable {
        case groups
        // A control with the name `attributes` would hide the attributes of its form from programs on the page.
        case attributes = "user_attributes"
    }

    /// An error in a draft.
    package struct FieldProblem: Sendable, Hashable {
        package let field: Field
        package let problem: ClaimProblem

        init(_ field: Field, _ problem: ClaimProblem) {
            self.field = field
            self.problem = problem
        }
    }

    /// The error that ``checked()`` throws, with the problems of all fields; they are never empty.
    package struct Refusal: Error, Sendable, Hashable {
        package let problems: [FieldProblem]
    }

    /// The names of the groups, one on each line.
    package var groups: String
    /// The attributes as a JSON object; empty for none.
    package var attributes: String

    package init(groups: String, attributes: String) {
        self.groups = groups
        self.attributes = attributes
    }

    /// Creates a draft from stored groups and attributes, to edit them.
    package init(_ stored: UserAttributes) {
        groups = stored.groups.sorted().map(\.rawValue).joined(separator: "\n")
        let members = stored.values.sorted { $0.key < $1.key }.map { "  \"\($0.key)\": \($0.value.json)" }
        attributes = members.isEmpty ? "" : "{\n" + members.joined(separator: ",\n") + "\n}"
    }

    /// Checks the draft.
    package func checked() throws(Refusal) -> UserAttributes {
        var problems: [FieldProblem] = []
        var names: Set<GroupName> = []
        do throws(ClaimProblem) {
            names = try Self.groups(groups.split(whereSeparator: \.isNewline).map(String.init))
        } catch { problems.append(FieldProblem(.groups, error)) }
        var values: [ClaimName: AttributeValue] = [:]
        do throws(ClaimProblem) { values = try Self.attributes(attributes) } catch {
            problems.append(FieldProblem(.attributes, error))
        }
        guard problems.isEmpty else { throw Refusal(problems: problems) }
        do throws(UserAttributes.Refusal) { return try UserAttributes(groups: names, values: values) } catch {
            throw Refusal(problems: [FieldProblem(error == .tooManyGroups ? .groups : .attributes, .refused(error))])
        }
    }

    /// Parses the names of groups; empty ones are ignored.
    package static func groups(_ typed: [String]) throws(ClaimProblem) -> Set<GroupName> {
        var names: Set<GroupName> = []
        for name in typed where !name.allSatisfy(\.isWhitespace) {
            guard let group = GroupName(name), DisplayName.isShownWhole(group.rawValue, length: 1...GroupName.limit)
            else {
                throw .notAGroup(name)
            }
            names.insert(group)
        }
        return names
    }

    private static func attributes(_ text: String) throws(ClaimProblem) -> [ClaimName: AttributeValue] {
        guard !text.allSatisfy(\.isWhitespace) else { return [:] }
        guard let members = try? JSONReader.object(Array(text.utf8)) else { throw .notJSON }
        var values: [ClaimName: AttributeValue] = [:]
        for (name, json) in members.sorted(by: { $0.key < $1.key }) {
            guard let claim = ClaimName(name) else { throw ClaimProblem(withName: name) ?? .notAName(name) }
            guard let value = AttributeValue(json) else { throw .notAValue(name) }
            values[claim] = value
        }
        return values
    }
}

extension ClaimProblem: Error {}

extension UserAttributes {
    /// A digest by which a form finds that the groups or attributes have changed since it was shown.
    package var revision: String { RecordDigest(groups.sorted().map(\.rawValue) + [json]).text }

    /// The groups and attributes that a user has gained and lost, for the audit log.
    func difference(from former: UserAttributes) -> String {
        func list(_ what: String, _ names: some Sequence<String>) -> String {
            let names = names.sorted()
            return names.isEmpty ? "" : ", \(what): " + names.joined(separator: " ")
        }
        let changed = Set(values.keys).union(former.values.keys).filter { values[$0] != former.values[$0] }
        return "changed the groups and attributes" + list("gained", groups.subtracting(former.groups).map(\.rawValue))
            + list("lost", former.groups.subtracting(groups).map(\.rawValue))
            + list("attributes", changed.map(\.rawValue))
    }
}
