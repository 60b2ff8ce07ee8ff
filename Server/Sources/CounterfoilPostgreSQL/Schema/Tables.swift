import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilStore
import Foundation
import PostgreSQLDriver

/// The tables, indexes and triggers of a new database, and their initial rows.
///
/// The tables and columns are those of `CounterfoilSQLite`: times are microseconds since 1970, flags are 0 or 1, and
/// lists, such as scopes and redirect URIs, are texts delimited by spaces. Keys compare byte by byte, whatever the
/// collation of the database is.
enum Tables {
    /// The statements, in the order in which they run.
    static let all: [Statement] =
        ([functions, people, registry, grants, requests, logout, audit, operation, shared, certificateOrders, endings]
        .flatMap(statements) + renewals + proofPartitions + EndingTrigger.statements(for: .postgreSQL))
        .map { Statement($0) }
        + ScopeDefinition.standard.map { scope in
            Statement(
                "INSERT INTO scopes (name, description, is_listed) VALUES ($1, $2, 1)", scope.token.rawValue,
                scope.description)
        }

    /// Splits a text at its empty lines, which separate statements.
    private static func statements(_ text: String) -> [String] {
        text.components(separatedBy: "\n\n").filter { !$0.isEmpty }
    }

    /// The scalar functions of SQLite that the statements of the store use.
    private static let functions = """
        CREATE FUNCTION max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS 'SELECT CASE WHEN $1 < $2 THEN $2 WHEN $2 IS NOT NULL THEN $1 END'

        CREATE FUNCTION min(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS 'SELECT CASE WHEN $1 > $2 THEN $2 WHEN $2 IS NOT NULL THEN $1 END'

        CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS 'SELECT strpos($1, $2)'

        CREATE FUNCTION json_patch(target jsonb, patch jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
        -- RFC 7396 §2
        DECLARE
            member record;
        BEGIN
            IF jsonb_typeof(patch) <> 'object' THEN RETURN patch; END IF;
            IF target IS NULL OR jsonb_typeof(target) <> 'object' THEN target := '{}'; END IF;
            FOR member IN SELECT key, value FROM jsonb_each(patch) LOOP
                IF jsonb_typeof(member.value) = 'null' THEN
                    target := target - member.key;
                ELSE
                    target := jsonb_set(
                        target, ARRAY[member.key], json_patch(target -> member.key, member.value));
                END IF;
            END LOOP;
            RETURN target;
        END
        $body$

        CREATE FUNCTION json_patch(target text, patch text) RETURNS text LANGUAGE sql IMMUTABLE
        AS 'SELECT json_patch($1::jsonb, $2::jsonb)::text'
        """
}
