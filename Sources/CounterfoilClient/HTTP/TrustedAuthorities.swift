#if canImport(AsyncHTTPClient)
    import NIOSSL
    import CounterfoilPlatform

    /// The certificate authorities that the environment names: `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    ///
    /// If one of the variables is set, its authorities replace those of the system. If both are set, the authorities
    /// of both are trusted.
    struct TrustedAuthorities: Hashable, Sendable {
        /// The error for variables that name no certificate.
        struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
            let description: String
        }

        private let file: String?
        private let folders: [String]

        /// Reads the variables in an environment.
        init(_ environment: [String: String]) {
            file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
            folders = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map(String.init)
        }

        /// The names of the variables that are set; nil if the authorities of the system are trusted.
        var variables: String? {
            let names = [file == nil ? nil : "SSL_CERT_FILE", folders.isEmpty ? nil : "SSL_CERT_DIR"].compactMap(\.self)
            return names.isEmpty ? nil : names.joined(separator: " and ")
        }

        /// The roots of trust of a TLS configuration.
        func roots() throws(Unusable) -> NIOSSLTrustRoots {
            guard let variables else { return .default }
            var certificates: [NIOSSLCertificate] = []
            if let file {
                // OpenSSL reads no directory here, so neither does this function.
                guard let read = try? NIOSSLCertificate.fromPEMFile(file) else {
                    throw Unusable(
                        description: "SSL_CERT_FILE names no readable file with certificates in PEM format: \(file)")
                }
                certificates += read
            }
            for folder in folders {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                // The same file often has several names, because OpenSSL looks for links that are named by a hash.
                let files = Set(names.map { URL(fileURLWithPath: "\(folder)/\($0)").resolvingSymlinksInPath().path })
                for file in files.sorted() {
                    certificates += (try? NIOSSLCertificate.fromPEMFile(file)) ?? []
                }
            }
            guard !certificates.isEmpty else {
                throw Unusable(description: "\(variables) names no folder with certificates in PEM format")
            }
            return .certificates(certificates)
        }
    }
#endif
