# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# awk -f assets.awk FILE.css FILE.js...: make C of style and script of the status
# page, in this order: one string of each kind, without indentation, empty lines
# and comments.

BEGIN {
    print "/* Made by mod_apppool/status/assets.awk. */"
    print "#include \"mod_apppool/status/status.h\""
}

FNR == 1 {
    kind = FILENAME ~ /\.css$/ ? "style" : "script"
    if (kind != last)
        printf "%sconst char apppool_status_%s[] =\n", last ? ";\n" : "", kind
    last = kind
}

{ sub(/^[ \t]+/, "") }
/^$/ { next }
kind == "script" && /^\/\// { next }
kind == "script" { sub(/ *\/\/ [^'"]*$/, "") } # no string ends behind it
kind == "style" && /^\/\*.*\*\/$/ { next }
kind == "style" {
    gsub(/: /, ":")
    gsub(/; /, ";")
    gsub(/, /, ",")
    gsub(/ \{ ?/, "{")
}

{
    gsub(/[\\"]/, "\\\\&")
    printf "    \"%s\\n\"\n", $0
}

END { print ";" }
