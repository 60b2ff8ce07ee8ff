import CounterfoilStore
import Foundation

/// The reader of a host's `apple-app-site-association`.
///
/// Each entry of `applinks.details` names apps in `appIDs` or `appID`, and paths in `components` or `paths`.
enum FetchedAppleFile {
    private struct File: Decodable {
        struct Links: Decodable {
            let details: Details?
        }
        let applinks: Links?
    }

    /// The entries of `applinks.details`: a list, or in the older format an object with the apps as its keys.
    private struct Details: Decodable {
        let list: [Detail]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let named = try? container.decode([String: Detail].self) {
                list = named.map { Detail(apps: [$0.key], hasPaths: $0.value.hasPaths) }
            } else {
                list = try container.decode([Detail].self)
            }
        }
    }

    private struct Detail: Decodable {
        let apps: [String]
        let hasPaths: Bool

        init(apps: [String], hasPaths: Bool) {
            self.apps = apps
            self.hasPaths = hasPaths
        }

        enum CodingKeys: CodingKey {
            case appIDs, appID, components, paths
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            apps =
                try container.decodeIfPresent([String].self, forKey: .appIDs)
                ?? container.decodeIfPresent(String.self, forKey: .appID).map { [$0] } ?? []
            hasPaths =
                try container.decodeIfPresent([AnyJSONElement].self, forKey: .components)?.isEmpty == false
                || container.decodeIfPresent([AnyJSONElement].self, forKey: .paths)?.isEmpty == false
        }
    }

    static func verdict(on app: AppleApp, in bytes: [UInt8]) -> AssociationVerdict {
        switch Decoding<File>(bytes) {
        case .malformed: return .notJSON
        case .other: return .notAnAssociationFile
        case .value(let file):
            guard let details = file.applinks?.details?.list else { return .notAnAssociationFile }
            let naming = details.filter { $0.apps.contains(app.rawValue) }
            guard !naming.isEmpty else { return .namesOtherApps }
            return naming.contains(where: \.hasPaths) ? .namesTheApp : .namesNoPaths
        }
    }
}

/// The reader of a host's `assetlinks.json`: a list of statements, each with a relation and a target.
enum FetchedAndroidFile {
    private struct Statement: Decodable {
        struct Target: Decodable {
            let namespace: String?
            let packageName: String?
            let fingerprints: [String]?

            enum CodingKeys: String, CodingKey {
                case namespace
                case packageName = "package_name"
                case fingerprints = "sha256_cert_fingerprints"
            }
        }
        let relation: [String]?
        let target: Target?
    }

    static func verdict(on app: AndroidApp, in bytes: [UInt8]) -> AssociationVerdict {
        switch Decoding<[Statement]>(bytes) {
        case .malformed: return .notJSON
        case .other: return .notAnAssociationFile
        case .value(let statements):
            let naming = statements.filter {
                $0.target?.namespace == "android_app" && $0.target?.packageName == app.packageName
            }
            guard !naming.isEmpty else { return .namesOtherApps }
            let signed = naming.filter { statement in
                statement.target?.fingerprints?.contains { $0.uppercased() == app.fingerprint } == true
            }
            guard !signed.isEmpty else { return .namesOtherCertificates }
            let isLinked = signed.contains {
                $0.relation?.contains("delegate_permission/common.handle_all_urls") == true
            }
            return isLinked ? .namesTheApp : .namesNoLinks
        }
    }
}

/// An element that decodes from any JSON value, for lists that are only checked for being empty.
private struct AnyJSONElement: Decodable {
    init(from decoder: any Decoder) throws {}
}

/// The result of decoding a file: a value, valid JSON that does not match the type, or malformed JSON.
private enum Decoding<Value: Decodable> {
    case value(Value)
    case other
    case malformed

    init(_ bytes: [UInt8]) {
        do {
            self = .value(try JSONDecoder().decode(Value.self, from: Data(bytes)))
        } catch DecodingError.dataCorrupted {
            self = .malformed
        } catch {
            self = .other
        }
    }
}
